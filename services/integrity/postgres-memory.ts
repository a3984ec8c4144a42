import { type Forgotten, findCursors, forgottenOf } from '#ledger/cursors.js'
import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import type { Committed } from '#platform/kafka/committed-offsets.js'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { firstRow } from '#platform/postgres/rows.js'
import { periodically } from '#platform/process/periodically.js'

// A Postgres can go back to an earlier state: a failover to a standby that lagged behind, a restored copy. Then it lacks decisions that
// were published, and records that others refer to. What is decided against such an index would be refused wrongly, in partitions too
// that have lost nothing themselves: so nothing at all is decided until that is mended.

/** Where Postgres is in its own log. A server that took over writes another timeline; one that was copied back is behind. */
export type WalPlace = { timeline: string; position: number }

const lookEvery = 5_000

/** Undefined where Postgres does not tell, as some hosted ones; looking every few seconds has to do there. */
export const findWalPlace = (connection: Pick<Connection, 'query'>): Promise<WalPlace | undefined> =>
  firstRow<WalPlace>(
    connection as Connection,
    `select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline, (pg_current_wal_lsn() - '0/0')::bigint as position`,
  ).catch(() => undefined)

const describe = ([first, ...more]: readonly Forgotten[]): string =>
  `Postgres went back to an earlier state: ${first?.place} was decided and published up to offset ${first?.published}, and ` +
  `Postgres knows it up to ${first?.known}${more.length > 0 ? `, and so for ${more.length} more partitions` : ''}. Nothing is decided ` +
  'until that is mended: see "Postgres went back" in docs/runbook.md'

export type PostgresMemory = ReturnType<typeof createPostgresMemory>

export const createPostgresMemory = (deps: {
  pool: Pool
  committed: () => Promise<readonly Committed[]>
  /** How many partitions are behind. */
  counted: (behind: number) => void
  log: Log
}) => {
  let last: WalPlace | undefined
  let isSure = false
  let problem: string | undefined
  let looking: Promise<void> | undefined

  // The committed offsets first, so that what is decided meanwhile is not missed.
  const look = async (): Promise<void> => {
    const committed = await deps.committed()
    // From here on a new connection to another Postgres makes it unsure again.
    isSure = true
    try {
      const forgotten = forgottenOf(committed, await findCursors(deps.pool))
      deps.counted(forgotten.length)
      const found = forgotten.length > 0 ? describe(forgotten) : undefined
      if (found && !problem) deps.log.error({ forgotten: forgotten.slice(0, 20) }, found)
      if (!found && problem) deps.log.info('Postgres knows again what was published')
      problem = found
    } catch (error) {
      isSure = false
      throw error
    }
  }
  const lookOnce = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }

  const check = (): void => {
    if (problem) throw new Error(problem)
  }

  return {
    /** For each new connection, before it is used. */
    onConnect: async (connection: Pick<Connection, 'query'>): Promise<void> => {
      // Of two connections that are opened at once, the answer to the older one may come last.
      const before = last
      const place = await findWalPlace(connection)
      if (!place) return
      if (before && (before.timeline !== place.timeline || place.position < before.position)) {
        isSure = false
        deps.log.warn({ was: before, is: place }, 'this is another Postgres than before, or an older one')
      }
      last = place
    },
    /** Before a fetch is decided: looks, where that was not done since Postgres may have been replaced, and throws if it went back. */
    mayDecide: async (): Promise<void> => {
      if (!isSure) await lookOnce()
      check()
    },
    /** Within the deciding transaction, whose connection may be newer than the look. */
    refuseUnsure: (): void => {
      check()
      if (!isSure) throw new Error('Postgres may have been replaced: what it knows is looked at first')
    },
    check,
    start: () =>
      periodically({
        name: 'look at what Postgres knows',
        everyMs: lookEvery,
        work: () => lookOnce().catch((error: unknown) => deps.log.debug({ reason: reasonOf(error) }, 'not looked at')),
        log: deps.log,
      }),
  }
}
