import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health.js'
import { addressOf } from '../address.js'
import { OperatorError } from '../operator-error.js'

/** Runs work on ClickHouse, and turns what an operator can put right into one line. */
export const withClickHouse = async <T>(url: string, work: (clickhouse: ClickHouse) => Promise<T>): Promise<T> => {
  const clickhouse = createClickHouse(url, { requestTimeout: 300_000 })
  try {
    return await work(clickhouse)
  } catch (error) {
    throw explain(error, addressOf(url))
  } finally {
    await clickhouse.close()
  }
}

const explain = (error: unknown, address: string): unknown => {
  const { code = '', type = '' } = error as { code?: string; type?: string }
  const [reason] = reasonOf(error).split('\n')
  // Postgres's and the edge's own failures were put into words where they happened.
  if (error instanceof OperatorError) return error
  if (/^E[A-Z_]+$/.test(code)) {
    return new OperatorError(
      `ClickHouse does not answer at ${address} (${reason}): is npm start running? CLICKHOUSE_URL says where it is`,
    )
  }
  switch (type) {
    case 'AUTHENTICATION_FAILED':
      return new OperatorError(
        `ClickHouse at ${address} refuses the login: check the user and password in CLICKHOUSE_URL`,
      )
    case 'UNKNOWN_TABLE':
    case 'UNKNOWN_DATABASE':
      return new OperatorError(`ClickHouse at ${address} has no tables of Weir yet: run "weir provision" first`)
    default:
      return error
  }
}
