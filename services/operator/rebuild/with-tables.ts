import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health.js'
import { addressOf } from '../address.js'
import { OperatorError } from '../operator-error.js'
import { isAnswer } from './patiently.js'

// Counting and copying a large table takes as long as it takes.
const requestTimeout = 3_600_000

/** Runs work on Weir's tables in ClickHouse, and turns what an operator can put right into one line. */
export const withTables = async <T>(url: string, work: (clickhouse: ClickHouse) => Promise<T>): Promise<T> => {
  const clickhouse = createClickHouse(url, { requestTimeout })
  try {
    await clickhouse.ping().catch((error: unknown) => {
      throw isAnswer(error) ? error : notReached(url, error)
    })
    return await work(clickhouse)
  } catch (error) {
    throw explain(error, url)
  } finally {
    await clickhouse.close()
  }
}

const notReached = (url: string, error: unknown): OperatorError =>
  new OperatorError(
    `ClickHouse does not answer at ${addressOf(url)} (${reasonOf(error)}): is npm start running? ` +
      'CLICKHOUSE_URL says where it is',
  )

const explain = (error: unknown, url: string): unknown => {
  const { code = '', type = '' } = error as { code?: string; type?: string }
  const [reason] = reasonOf(error).split('\n')
  if (/^E[A-Z_]+$/.test(code)) return notReached(url, error)
  switch (type) {
    case 'ACCESS_DENIED':
      return new OperatorError(
        `ClickHouse at ${addressOf(url)} does not let this user make tables (${reason}): ` +
          "name the user of Weir's provisioning in CLICKHOUSE_URL",
      )
    case 'AUTHENTICATION_FAILED':
      return new OperatorError(
        `ClickHouse at ${addressOf(url)} refuses the login: check the user and password in CLICKHOUSE_URL`,
      )
    case 'UNKNOWN_TABLE':
    case 'UNKNOWN_DATABASE':
    case 'UNKNOWN_IDENTIFIER':
      return new OperatorError(
        `ClickHouse at ${addressOf(url)} lacks a table or a column of Weir (${reason}): ` +
          'run "weir provision" first, then try again',
      )
    default:
      return error
  }
}
