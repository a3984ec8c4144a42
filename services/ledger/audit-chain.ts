import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { changedBy, countOf, type Database, rowsOf } from '#platform/postgres/rows.js'
import type { AuditProblem } from '#schemas/endpoints/access/audit.js'
import { nobody } from '#schemas/uuid.js'

// The hash chain over auth.audit, one for each organisation. Triggers make it (migrations/auth/0009_audit_chain.sql); here it is checked,
// handed out for others to check, and cut off where its oldest rows are too old.

/** What a chain is, and where it first breaks, if it does. */
export type AuditChain = {
  org: string
  entries: number
  /** Entries that an id of an erased person was taken out of: what else they say cannot be checked any more. */
  redacted: number
  /** When the first entry is from that was not pruned. */
  from: Date | null
  head: string | null
  problem: { what: AuditProblem; at: Date | null; chain: string | null } | null
}

/** The chains of all organisations that have one, each computed again. */
export const verifyAudits = (db: Database): Promise<AuditChain[]> => verify(db, null)

/** The chain of one organisation, which may have none; `head` is one of before, which has to be in it. */
export const verifyAudit = async (db: Database, org: string, head?: string): Promise<AuditChain> => {
  const [chain = { org, entries: 0, redacted: 0, from: null, head: null, problem: null }] = await verify(db, org)
  if (chain.problem || head === undefined || (await hasHead(db, org, head))) return chain
  return { ...chain, problem: { what: 'head_missing', at: null, chain: null } }
}

const verify = async (db: Database, org: string | null): Promise<AuditChain[]> => {
  const found = await rowsOf<Verified>(db, verification, [org])
  return found.map(({ what, brokenAt: at, brokenChain: chain, ...facts }) => ({
    ...facts,
    problem: what && { what, at, chain },
  }))
}

// In a chain that was pruned, the first entry still names the one before it.
const hasHead = async (db: Database, org: string, head: string): Promise<boolean> =>
  (await countOf(
    db,
    `select count(*) as count from auth.audit where org_id = $1 and decode($2, 'hex') in (chain, previous)`,
    [org, head],
  )) > 0

type Verified = Omit<AuditChain, 'problem'> & {
  what: AuditProblem | null
  brokenAt: Date | null
  brokenChain: string | null
}

const verification = `
  with checked as (
    select a.org_id, a.audit_id, a.at, a.chain, a.previous, a.redacted_at, lag(a.chain) over chain_of as before,
      a.chain = sha256(a.previous || a.content_sha256) and case
        when a.redacted_at is null
        then coalesce(sha256(a.salt || convert_to(auth.audit_content(a), 'UTF8')) = a.content_sha256, false)
        else a.salt is null and auth.audit_content(a) like '%${nobody}%'
      end as is_as_written
    from auth.audit a
    where $1::text is null or a.org_id = $1
    window chain_of as (partition by a.org_id order by a.audit_id)
  ),
  judged as (
    select *, case
      when not is_as_written then 'changed'
      when previous <> before then case
        when exists (select from auth.audit next where next.org_id = checked.org_id and next.previous = before)
        then 'forged' else 'removed'
      end
    end as problem
    from checked
  ),
  chains as (
    select org_id, count(*) as entries, count(redacted_at) as redacted, min(audit_id) as first, max(audit_id) as last,
      min(audit_id) filter (where problem is not null) as broken
    from judged
    group by org_id
  )
  select c.org_id as org, c.entries, c.redacted, first.at as from, encode(last.chain, 'hex') as head,
    broken.problem as what, broken.at as "brokenAt", encode(broken.chain, 'hex') as "brokenChain"
  from chains c
  join auth.audit first on first.audit_id = c.first
  join auth.audit last on last.audit_id = c.last
  left join judged broken on broken.audit_id = c.broken
  order by c.org_id`

/** As HTTP and the command say it. */
export const asVerification = ({ org: _, problem, ...chain }: AuditChain) => ({
  holds: problem === null,
  ...chain,
  problem,
})

/** An entry with all that is needed to check it without Weir; hashes as hexadecimal digits. */
export type ExportedAudit = {
  content: string
  salt: string | null
  content_sha256: string
  previous: string
  chain: string
  redacted_at: Date | null
}

/** The chain of an organisation from its first entry on. */
export async function* exportAudit(db: Database, org: string): AsyncGenerator<ExportedAudit, void, undefined> {
  const most = 1000
  for (let after = 0, found = most; found === most; ) {
    const page = await rowsOf<ExportedAudit & { id: number }>(
      db,
      `select audit_id as id, auth.audit_content(a) as content, encode(salt, 'hex') as salt,
        encode(content_sha256, 'hex') as content_sha256, encode(previous, 'hex') as previous, encode(chain, 'hex') as chain,
        redacted_at
      from auth.audit a
      where org_id = $1 and audit_id > $2
      order by audit_id
      limit ${most}`,
      [org, after],
    )
    for (const { id, ...entry } of page) {
      after = id
      yield entry
    }
    found = page.length
  }
}

// All before the first entry that is young enough: in the order of the chains, so that what is left of each has no gap, also where clocks
// went back.
const isOld = `audit_id < coalesce((select min(audit_id) from auth.audit where at >= $1), 9223372036854775807)`

export const countPrunableAudit = (db: Database, before: Date): Promise<number> =>
  countOf(db, `select count(*) as count from auth.audit where ${isOld}`, [before])

/** Removes at most `most` entries from before a moment. It waits for a row that somebody holds: to pass it over would leave a gap. */
export const pruneAudit = (pool: Pool, before: Date, most: number): Promise<number> =>
  inTransaction(pool, async (connection) => {
    await connection.query(`select set_config('weir.audit', 'prune', true)`)
    return changedBy(
      connection,
      `delete from auth.audit
      where audit_id in (select audit_id from auth.audit where ${isOld} order by audit_id limit $2 for update)`,
      [before, most],
    )
  })
