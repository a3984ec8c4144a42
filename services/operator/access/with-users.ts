import type { ClickHouse } from '#platform/clickhouse.js'
import { addressOf } from '../desk/address.js'
import { OperatorError } from '../desk/operator-error.js'
import { type Words, withClickHouse } from '../desk/with-clickhouse.js'

/** Runs work on a ClickHouse that keeps users. */
export const withUsers = <T>(url: string, work: (clickhouse: ClickHouse) => Promise<T>): Promise<T> =>
  withClickHouse(
    url,
    async (clickhouse) => {
      if (!(await keepsUsers(clickhouse))) {
        throw new OperatorError(
          `ClickHouse at ${addressOf(url)} has no users (the embedded engine has none): ` +
            'name a server in CLICKHOUSE_URL, or let --print show the SQL',
        )
      }
      return work(clickhouse)
    },
    { requestTimeout: 30_000, words },
  )

// Users that are made have to be kept somewhere; a file of settings is not such a place.
const keepsUsers = async (clickhouse: ClickHouse): Promise<boolean> => {
  const places = await clickhouse.query(`select name from system.user_directories where type not like 'users%xml'`)
  return places.length > 0
}

const words: Words = {
  // npm start would not help: its engine has no users.
  AWAY: (address, reason) => `ClickHouse does not answer at ${address} (${reason}): CLICKHOUSE_URL says where it is`,
  ACCESS_DENIED: (address, reason) =>
    `ClickHouse at ${address} does not let this user manage others (${reason}): ` +
    'name one with access management in CLICKHOUSE_URL, or let --print show the SQL',
  ACCESS_ENTITY_ALREADY_EXISTS: () => 'this analyst is there already: "weir analysts drop" takes the user away first',
}
