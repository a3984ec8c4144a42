import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import { addressOf } from './address.js'
import { OperatorError } from './operator-error.js'

/** What an operator is told, by ClickHouse's name for an error; AWAY where it did not answer. */
export type Words = Readonly<Record<string, (address: string, reason: string) => string>>

type Options = {
  requestTimeout?: number
  /** For work that can say more than the usual. */
  words?: Words
}

/** Runs work on ClickHouse, and turns what an operator can put right into one line. */
export const withClickHouse = async <T>(
  url: string,
  work: (clickhouse: ClickHouse) => Promise<T>,
  { requestTimeout = 300_000, words = {} }: Options = {},
): Promise<T> => {
  const clickhouse = createClickHouse(url, { requestTimeout })
  try {
    return await work(clickhouse)
  } catch (error) {
    throw explain(error, addressOf(url), { ...usualWords, ...words })
  } finally {
    await clickhouse.close()
  }
}

export const notReached = (address: string, reason: string): string =>
  `ClickHouse does not answer at ${address} (${reason}): is npm start running? CLICKHOUSE_URL says where it is`

const notProvisioned = (address: string): string =>
  `ClickHouse at ${address} has no tables of Weir yet: run "weir provision" first`

const usualWords: Words = {
  AWAY: notReached,
  AUTHENTICATION_FAILED: (address) =>
    `ClickHouse at ${address} refuses the login: check the user and password in CLICKHOUSE_URL`,
  UNKNOWN_TABLE: notProvisioned,
  UNKNOWN_DATABASE: notProvisioned,
}

const explain = (error: unknown, address: string, words: Words): unknown => {
  // Postgres's and the edge's own failures were put into words where they happened.
  if (error instanceof OperatorError) return error
  const { code = '', type = '' } = error as { code?: string; type?: string }
  const [reason = ''] = reasonOf(error).split('\n')
  const say = words[/^E[A-Z_]+$/.test(code) ? 'AWAY' : type]
  return say ? new OperatorError(say(address, reason)) : error
}
