import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { addressOf } from './address.js'
import { OperatorError } from './operator-error.js'

/** Runs work on Postgres, and turns what an operator can put right into one line. */
export const withPool = async <T>(url: string, log: Log, work: (pool: Pool) => Promise<T>): Promise<T> => {
  const pool = createPool(url, log, 2)
  try {
    return await work(pool)
  } catch (error) {
    throw explain(error, addressOf(url))
  } finally {
    await pool.end()
  }
}

const unreachable = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  '57P03',
  '57P01',
]

const explain = (error: unknown, address: string): unknown => {
  const code = (error as { code?: string }).code ?? ''
  const reason = reasonOf(error)
  // A connection that was not made in time has no code, only these words.
  if (
    unreachable.includes(code) ||
    /connection t(imeout|erminated)|timeout exceeded when trying to connect/i.test(reason)
  ) {
    return new OperatorError(
      `Postgres does not answer at ${address} (${reason}): is npm start running? POSTGRES_URL says where it is`,
    )
  }
  switch (code) {
    case '28P01':
    case '28000':
      return new OperatorError(
        `Postgres at ${address} refuses the login (${reason}): check the user and password in POSTGRES_URL`,
      )
    case '3D000':
      return new OperatorError(
        `Postgres at ${address} has no such database (${reason}): check POSTGRES_URL or create it`,
      )
    case '42P01':
    case '3F000':
      return new OperatorError(
        `Postgres at ${address} has no tables of Weir yet (${reason}): run "weir provision" first`,
      )
    default:
      return error
  }
}
