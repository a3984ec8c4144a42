import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { countOf, type Database, rowsOf } from '#platform/postgres/rows.js'
import { type Erasure, noteEnd } from './erasures.js'

// Erasures that did not end in time.

// A run takes minutes, and waits for a part that is away for a night. The law gives a month: there is time left to mend what is in the way.
const failedAfterHours = 24

/** An erasure that has failed, as the log has it. */
export type Failed = Pick<Erasure, 'erasureId' | 'orgId' | 'mode' | 'isDryRun' | 'askedBy' | 'step' | 'problem'>

/**
 * Says of those that were begun a day ago that they have failed, so that nobody waits for ever. They are tried on, but for dry runs: a count of
 * yesterday is of use to nobody, and its row is to name nobody any more.
 */
export const failLateErasures = (pool: Pool): Promise<Failed[]> =>
  inTransaction(pool, async (connection) => {
    const failed = await rowsOf<Failed>(
      connection,
      `update erasure.erasures
      set status = 'failed', ended_at = now(),
        problem = coalesce(problem, case when step = 'asked' then 'nothing has begun it yet' else 'it does not get beyond this step' end),
        person_id = case when not is_dry_run then person_id end, known = case when not is_dry_run then known end
      where status = 'running' and begun_at < now() - make_interval(hours => $1)
      returning erasure_id as "erasureId", org_id as "orgId", mode, is_dry_run as "isDryRun", asked_by as "askedBy", step, problem`,
      [failedAfterHours],
    )
    for (const each of failed) await noteEnd(connection, each, 'failed')
    return failed
  })

/** Those that have failed, and are still owed to somebody. */
export const countFailed = (db: Database): Promise<number> =>
  countOf(db, `select count(*) as count from erasure.erasures where status = 'failed' and not is_dry_run`)
