import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import { addressOf } from './address.js'
import { OperatorError } from './operator-error.js'
import { isAnswer } from './until.js'
import { notReached, type Words, withClickHouse } from './with-clickhouse.js'

// Counting and copying a large table takes as long as it takes.
const requestTimeout = 3_600_000

/** Runs work on Weir's tables in ClickHouse. */
export const withTables = <T>(url: string, work: (clickhouse: ClickHouse) => Promise<T>): Promise<T> =>
  withClickHouse(
    url,
    async (clickhouse) => {
      await clickhouse.ping().catch((error: unknown) => {
        throw isAnswer(error) ? error : new OperatorError(notReached(addressOf(url), reasonOf(error)))
      })
      return work(clickhouse)
    },
    { requestTimeout, words },
  )

const outdated = (address: string, reason: string): string =>
  `ClickHouse at ${address} lacks a table or a column of Weir (${reason}): run "weir provision" first, then try again`

const words: Words = {
  ACCESS_DENIED: (address, reason) =>
    `ClickHouse at ${address} does not let this user make tables (${reason}): ` +
    "name the user of Weir's provisioning in CLICKHOUSE_URL",
  UNKNOWN_TABLE: outdated,
  UNKNOWN_DATABASE: outdated,
  UNKNOWN_IDENTIFIER: outdated,
}
