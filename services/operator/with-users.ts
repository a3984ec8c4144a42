import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health.js'
import { addressOf } from './address.js'
import { OperatorError } from './operator-error.js'

/** Runs work on a ClickHouse that keeps users, and turns what an operator can put right into one line. */
export const withUsers = async <T>(url: string, work: (clickhouse: ClickHouse) => Promise<T>): Promise<T> => {
  const clickhouse = createClickHouse(url, { requestTimeout: 30_000 })
  const address = addressOf(url)
  try {
    if (!(await keepsUsers(clickhouse))) {
      throw new OperatorError(
        `ClickHouse at ${address} has no users (the embedded engine has none): ` +
          'name a server in CLICKHOUSE_URL, or let --print show the SQL',
      )
    }
    return await work(clickhouse)
  } catch (error) {
    throw explain(error, address)
  } finally {
    await clickhouse.close()
  }
}

// Users that are made have to be kept somewhere; a file of settings is not such a place.
const keepsUsers = async (clickhouse: ClickHouse): Promise<boolean> => {
  const places = await clickhouse.query(`select name from system.user_directories where type not like 'users%xml'`)
  return places.length > 0
}

const explain = (error: unknown, address: string): unknown => {
  if (error instanceof OperatorError) return error
  const { code = '', type = '' } = error as { code?: string; type?: string }
  const [reason] = reasonOf(error).split('\n')
  if (/^E[A-Z_]+$/.test(code))
    return new OperatorError(`ClickHouse does not answer at ${address} (${reason}): CLICKHOUSE_URL says where it is`)
  switch (type) {
    case 'ACCESS_DENIED':
      return new OperatorError(
        `ClickHouse at ${address} does not let this user manage others (${reason}): ` +
          'name one with access management in CLICKHOUSE_URL, or let --print show the SQL',
      )
    case 'ACCESS_ENTITY_ALREADY_EXISTS':
      return new OperatorError(`this analyst is there already: "weir analysts drop" takes the user away first`)
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
