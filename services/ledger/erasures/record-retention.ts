import { type Doer, noteAudit } from '#ledger/audit.js'
import { changedBy, type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { Counted } from './erasures.js'

// erasure.retention, erasure.retention_runs: how long records are kept, and when those that are too old were last removed.

/** Instead of an organisation: every one that has no rule of its own. */
export const everybody = '*'

export type Rule = { org: string; type: string; keep: string; setBy: string; setAt: Date }

/** A number with d, mo or y; undefined where a text is no such thing, or less than a day. */
export const readKeep = (text: string): { count: number; unit: 'd' | 'mo' | 'y' } | undefined => {
  const [, count, unit] = /^([1-9]\d{0,4})(d|mo|y)$/.exec(text) ?? []
  return unit === undefined ? undefined : { count: Number(count), unit: unit as 'd' | 'mo' | 'y' }
}

/** The beginning of the day (UTC) from which on records are kept: so that there is something to do once a day at the most. */
export const keptFrom = (keep: string, now: number): Date => {
  const read = readKeep(keep)
  if (!read) throw new Error(`"${keep}" does not say how long something is kept`)
  const at = new Date(now)
  at.setUTCHours(0, 0, 0, 0)
  if (read.unit === 'd') at.setUTCDate(at.getUTCDate() - read.count)
  if (read.unit === 'mo') at.setUTCMonth(at.getUTCMonth() - read.count)
  if (read.unit === 'y') at.setUTCFullYear(at.getUTCFullYear() - read.count)
  return at
}

export const listRules = (db: Database): Promise<Rule[]> =>
  rowsOf(
    db,
    `select org_id as org, type, keep, set_by as "setBy", set_at as "setAt" from erasure.retention order by type, org_id`,
  )

export const setRule = async (
  db: Database,
  { org, type, keep }: Pick<Rule, 'org' | 'type' | 'keep'>,
  by: Doer,
): Promise<void> => {
  await changedBy(
    db,
    `insert into erasure.retention (org_id, type, keep, set_by) values ($1, $2, $3, $4)
    on conflict (org_id, type) do update set keep = excluded.keep, set_by = excluded.set_by, set_at = now()`,
    [org, type, keep, by.actor],
  )
  await noteAudit(db, by, { org, action: 'retention_set', subject: type, details: { keep } })
}

/** Whether there was one. */
export const dropRule = async (db: Database, { org, type }: Pick<Rule, 'org' | 'type'>, by: Doer): Promise<boolean> => {
  const dropped = await changedBy(db, 'delete from erasure.retention where org_id = $1 and type = $2', [org, type])
  if (dropped > 0) await noteAudit(db, by, { org, action: 'retention_dropped', subject: type })
  return dropped > 0
}

export type RetentionRun = {
  runId: string
  beganAt: Date
  endedAt: Date | null
  removed: Counted[]
  problem: string | null
}

const runColumns = `run_id as "runId", began_at as "beganAt", ended_at as "endedAt", removed, problem`

export const lastRun = (db: Database): Promise<RetentionRun | undefined> =>
  firstRow(db, `select ${runColumns} from erasure.retention_runs order by began_at desc limit 1`)

/** Whether there are rules, and a day has gone since they were applied, an hour since that failed, or one was set since. */
export const isRetentionDue = async (db: Database): Promise<boolean> =>
  (
    await firstRow<{ is_due: boolean }>(
      db,
      `select exists (select from erasure.retention) and not exists (
        select from erasure.retention_runs
        where began_at > now() - case when problem is null and ended_at is not null then interval '1 day' else interval '1 hour' end
          and began_at > (select max(set_at) from erasure.retention)
      ) as is_due`,
    )
  )?.is_due ?? false

/** Notes that a run begins; runs that found nothing are kept no longer, nor any for more than a year. */
export const beginRun = async (db: Database): Promise<string> => {
  await changedBy(db, `delete from erasure.retention_runs where removed = '[]' or began_at < now() - interval '1 year'`)
  const row = await firstRow<{ runId: string }>(
    db,
    `insert into erasure.retention_runs (run_id) values (gen_random_uuid()) returning run_id as "runId"`,
  )
  if (!row) throw new Error('Postgres did not take the run')
  return row.runId
}

export const endRun = async (
  db: Database,
  runId: string,
  { removed, problem }: { removed: readonly Counted[]; problem: string | null },
): Promise<void> => {
  await changedBy(
    db,
    'update erasure.retention_runs set ended_at = now(), removed = $2, problem = $3 where run_id = $1',
    [runId, JSON.stringify(removed), problem],
  )
}
