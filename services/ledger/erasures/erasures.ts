import { commandLine, type Doer, noteAudit } from '#ledger/audit.js'
import { changedBy, type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { ErasureMode } from '#schemas/endpoints/persons/erasures.js'
import { closeOrg } from '../organisations.js'
import { hashOfName, nameOfAll, saltOf } from './gates.js'

// erasure.erasures: who is to be forgotten, and what became of it.

/** The names under which a person is known, in lower case where they are UUIDs. */
export type NamesOfPerson = { customerIds: string[]; userIds: string[] }
export type Counted = { where: string; count: number }

export type Erasure = {
  erasureId: string
  orgId: string
  /** With `organisation` all that the organisation has goes, whoever is in it. */
  mode: ErasureMode | 'organisation'
  afterwards: 'refuse' | 'new'
  isDryRun: boolean
  /** Null once nothing is left of the person. */
  personId: string | null
  known: NamesOfPerson | null
  /** Hashes of all names in `known`, in hexadecimal digits; they stay. */
  names: string[]
  status: 'running' | 'done' | 'failed'
  step: string
  askedBy: string
  askedAt: Date
  endedAt: Date | null
  found: Counted[] | null
  report: string | null
  signature: string | null
  problem: string | null
}

/** One that an organisation asks for itself; the other ones are the operators'. */
export type ErasureOfPerson = Erasure & { mode: ErasureMode }
export const isOfPerson = (erasure: Erasure): erasure is ErasureOfPerson => erasure.mode !== 'organisation'

/** As HTTP and the command say it. */
export const asShown = <One extends Erasure>(erasure: One) => ({
  erasure_id: erasure.erasureId,
  mode: erasure.mode as One['mode'],
  afterwards: erasure.afterwards,
  dry_run: erasure.isDryRun,
  status: erasure.status,
  step: erasure.step,
  asked_at: erasure.askedAt.toISOString(),
  ended_at: erasure.endedAt?.toISOString() ?? null,
  found: erasure.found,
  problem: erasure.problem,
})

export type NewErasure = Pick<Erasure, 'orgId' | 'mode' | 'afterwards' | 'isDryRun'> & { personId: string }

const columns = `
  erasure_id as "erasureId", org_id as "orgId", mode, afterwards, is_dry_run as "isDryRun", person_id as "personId", known,
  (select coalesce(array_agg(encode(name, 'hex')), '{}') from unnest(names_sha256) name) as names, status, step,
  asked_by as "askedBy", asked_at as "askedAt", ended_at as "endedAt", found, report, signature, problem`

/** Asks for an erasure. One of the same person in the same way that is not done yet is the same one; one that has failed is begun again. */
export const askErasure = async <Asked extends NewErasure>(
  db: Database,
  asked: Asked,
  by: Doer = commandLine,
): Promise<Erasure & Pick<Asked, 'mode'>> => {
  const { orgId, personId, mode, afterwards, isDryRun } = asked
  const hash = hashOfName(await saltOf(db, orgId), mode === 'organisation' ? nameOfAll(orgId) : personId)
  if (mode === 'organisation' && !isDryRun) await closeOrg(db, orgId)
  type Same = Erasure & Pick<Asked, 'mode'>
  const open = await firstRow<Same>(
    db,
    `select ${columns} from erasure.erasures
    where org_id = $1 and person_sha256 = $2 and mode = $3 and is_dry_run = $4
      and (status = 'running' or status = 'failed' and not is_dry_run)`,
    [orgId, hash, mode, isDryRun],
  )
  // What was wished for last counts.
  if (open && open.afterwards !== afterwards)
    await changedBy(db, 'update erasure.erasures set afterwards = $2 where erasure_id = $1', [
      open.erasureId,
      afterwards,
    ])
  if (open?.status === 'running') return { ...open, afterwards }
  if (open) await changedBy(db, `update erasure.erasures ${begunAgain} where erasure_id = $1`, [open.erasureId])
  const made = open
    ? await findErasure(db, open.erasureId)
    : await firstRow<Erasure>(
        db,
        `insert into erasure.erasures (erasure_id, org_id, mode, afterwards, is_dry_run, person_id, person_sha256, asked_by, request_id)
        values (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, $8)
        returning ${columns}`,
        [orgId, mode, afterwards, isDryRun, personId, hash, by.actor, by.requestId ?? null],
      )
  if (!made) throw new Error('Postgres did not take the erasure')
  // The audit outlives the person, and so names the erasure.
  await noteAudit(db, by, {
    ...{ org: orgId, action: 'erasure_asked', subject: made.erasureId },
    details: { mode, afterwards, dry_run: isDryRun },
  })
  return { ...made, mode }
}

/** Asks for all that an organisation has to be removed, and closes it. */
export const askDeletion = (
  db: Database,
  { orgId, isDryRun }: Pick<Erasure, 'orgId' | 'isDryRun'>,
  by: Doer = commandLine,
): Promise<Erasure> =>
  askErasure(db, { orgId, personId: orgId, mode: 'organisation', afterwards: 'refuse', isDryRun }, by)

export const findErasure = (db: Database, erasureId: string): Promise<Erasure | undefined> =>
  firstRow(db, `select ${columns} from erasure.erasures where erasure_id = $1`, [erasureId])

/** Of one organisation, or with null of all; the newest first. */
export const listErasures = (db: Database, orgId: string | null): Promise<Erasure[]> =>
  rowsOf(
    db,
    `select ${columns} from erasure.erasures where $1::text is null or org_id = $1 order by asked_at desc, erasure_id limit 1000`,
    [orgId],
  )

/** When the last of those that run was asked for, or begun again; undefined where there is none. */
export const lastBegun = async (db: Database): Promise<number | undefined> =>
  (
    await firstRow<{ at: Date | null }>(db, `select max(begun_at) as at from erasure.erasures where status = 'running'`)
  )?.at?.getTime()

/**
 * Those that run, the first ones first; none while another one is asked for every second, for a minute at most: a run reads all topics,
 * whether it forgets one person or ten thousand.
 */
export const runningErasures = (db: Database, most: number): Promise<Erasure[]> =>
  rowsOf(
    db,
    `select ${columns} from erasure.erasures
    where status = 'running' and (
      select max(begun_at) < now() - interval '1 second' or min(begun_at) < now() - interval '1 minute'
      from erasure.erasures where status = 'running'
    )
    order by asked_at, erasure_id limit $1`,
    [most],
  )

/** Those that have failed, the first ones first. They have runs of their own: what keeps them from ending keeps no other one from it. */
export const failedErasures = (db: Database, most: number): Promise<Erasure[]> =>
  rowsOf(
    db,
    `select ${columns} from erasure.erasures where status = 'failed' and not is_dry_run order by asked_at, erasure_id limit $1`,
    [most],
  )

// Of one that has failed the names may stand there still, or may not be known yet; one that is done has its hashes alone.
const begunAgain = `set status = 'running', step = 'asked', begun_at = now(), ended_at = null, looked_again_at = null, problem = null,
  known = case when status = 'done' then '{"customerIds": [], "userIds": []}' else known end`

/**
 * Begins erasures once more, by their hashes: these, or with null all that ended since a moment; those that have failed, too. Resolves to how
 * many. Not those that are done and after which the person is taken as somebody new: what came since would go too.
 */
export const repeatErasures = (
  db: Database,
  erasureIds: readonly string[] | null,
  since: Date | null,
): Promise<number> =>
  changedBy(
    db,
    `update erasure.erasures ${begunAgain}
    where not is_dry_run and (status = 'done' and afterwards = 'refuse' or status = 'failed') and ($1::uuid[] is null or erasure_id = any ($1))
      and ($2::timestamptz is null or ended_at >= $2)`,
    [erasureIds, since],
  )

/**
 * Begins erasures once more whose persons were sent again: what integrity refused of them lies in the log. Not at once, since who sends
 * somebody once sends them again soon, and a run reads all topics.
 */
export const reopenErasures = async (db: Database, afterSeconds: number): Promise<number> =>
  changedBy(
    db,
    `update erasure.erasures ${begunAgain}
    where status = 'done' and erasure_id in (
      select erasure_id from erasure.persons where seen_at < now() - make_interval(secs => $1)
    )`,
    [afterSeconds],
  )

/**
 * Those that ended a day ago or longer, and were not looked at again since; none where others were within a day: a look reads all topics. Not
 * those after which the person is taken as somebody new, who may be there.
 */
export const erasuresToLookAt = (db: Database, most: number): Promise<Erasure[]> =>
  rowsOf(
    db,
    `select ${columns} from erasure.erasures
    where looked_again_at is null and ended_at < now() - interval '1 day'
      and status = 'done' and not is_dry_run and afterwards = 'refuse'
      and not exists (select from erasure.erasures where looked_again_at > now() - interval '1 day')
    order by ended_at limit $1`,
    [most],
  )

/** Nothing had come back of these. */
export const noteLookedAgain = (db: Database, erasureIds: readonly string[]): Promise<number> =>
  changedBy(db, `update erasure.erasures set looked_again_at = now() where erasure_id = any ($1::uuid[])`, [erasureIds])

/** What came of these persons until now is going to be read, and removed. */
export const forgetSeen = (db: Database, erasureIds: readonly string[]): Promise<number> =>
  changedBy(
    db,
    `update erasure.persons set seen_at = null where erasure_id = any ($1::uuid[]) and seen_at is not null`,
    [erasureIds],
  )

export const findErasures = (db: Database, erasureIds: readonly string[]): Promise<Erasure[]> =>
  rowsOf(db, `select ${columns} from erasure.erasures where erasure_id = any ($1::uuid[]) order by asked_at`, [
    erasureIds,
  ])

/** Who they are, once that is found out: the names, and their hashes, which stay. */
export const noteNames = (
  db: Database,
  erasures: readonly Pick<Erasure, 'erasureId' | 'known' | 'names'>[],
): Promise<number> =>
  changedBy(
    db,
    `update erasure.erasures e
    set known = found.known,
      names_sha256 = (select array_agg(decode(name, 'hex')) from jsonb_array_elements_text(found.names) name)
    from jsonb_to_recordset($1) as found ("erasureId" uuid, known jsonb, names jsonb)
    where e.erasure_id = found."erasureId" and (e.status = 'running' or not e.is_dry_run)`,
    [JSON.stringify(erasures.map(({ erasureId, known, names }) => ({ erasureId, known, names })))],
  )

export const noteStep = (db: Database, erasureIds: readonly string[], step: string): Promise<number> =>
  // What has failed goes on saying why, until another try ends.
  changedBy(
    db,
    `update erasure.erasures set step = $2, problem = case when status = 'failed' then problem end where erasure_id = any ($1::uuid[])`,
    [erasureIds, step],
  )

/** Why those that are not done do not go on. */
export const noteProblem = (db: Database, erasureIds: readonly string[], problem: string): Promise<number> =>
  changedBy(db, `update erasure.erasures set problem = $2 where erasure_id = any ($1::uuid[]) and status <> 'done'`, [
    erasureIds,
    problem,
  ])

/** What there was before anything was removed; what an earlier try has found stays. */
export const noteFound = (db: Database, found: ReadonlyMap<string, readonly Counted[]>): Promise<number> =>
  changedBy(
    db,
    `update erasure.erasures e set found = given.found
    from jsonb_to_recordset($1) as given ("erasureId" uuid, found jsonb)
    where e.erasure_id = given."erasureId" and e.found is null`,
    [JSON.stringify([...found].map(([erasureId, counts]) => ({ erasureId, found: counts })))],
  )

/** From here on the row names nobody. */
export const endErasure = async (
  db: Database,
  erasure: Pick<Erasure, 'erasureId' | 'orgId' | 'mode' | 'isDryRun' | 'askedBy'>,
  { report, signature }: { report: string; signature: string },
): Promise<void> => {
  await changedBy(
    db,
    `update erasure.erasures
    set status = 'done', step = 'done', problem = null, ended_at = now(), report = $2, signature = $3, person_id = null, known = null
    where erasure_id = $1`,
    [erasure.erasureId, report, signature],
  )
  await noteEnd(db, erasure, 'done')
}

/** Notes the end in the audit, in the name of the key or operator that asked for it. The audit of an organisation that is deleted goes with it. */
export const noteEnd = async (
  db: Database,
  { erasureId, orgId, mode, isDryRun, askedBy }: Pick<Erasure, 'erasureId' | 'orgId' | 'mode' | 'isDryRun' | 'askedBy'>,
  status: 'done' | 'failed',
): Promise<void> => {
  if (mode === 'organisation') return
  await noteAudit(
    db,
    { ...commandLine, actor: askedBy },
    { ...{ org: orgId, action: 'erasure_ended', subject: erasureId }, details: { status, dry_run: isDryRun } },
  )
}
