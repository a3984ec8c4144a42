import { type StillAlone, tryAlone } from '#platform/postgres/alone.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { OperatorError } from './operator-error.js'

/** Runs work that no other command may do at the same time. A command that dies leaves no lock behind. */
export const alone = async <T>(pool: Pool, name: string, work: (stillAlone: StillAlone) => Promise<T>): Promise<T> => {
  const result = await tryAlone(pool, `weir ${name}`, (stillAlone) =>
    work(() =>
      stillAlone().catch((error: Error) => {
        throw new OperatorError(`Postgres was away (${error.message}): try again`)
      }),
    ),
  )
  if (result) return result.done
  throw new OperatorError(`another "weir ${name}" is running: wait until it is done, then try again if need be`)
}
