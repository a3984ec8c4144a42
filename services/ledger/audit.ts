import type { Pool } from '#platform/postgres/postgres.js'
import { type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { AuditAction } from '#schemas/endpoints/access/audit.js'

// auth.audit: what was done with an organisation's keys, limits and records, and by whom. Written in the transaction that does it.

/** Who does something: the id of a key or the command line, and the request that asks for it, if one does. */
export type Doer = { actor: string; requestId?: string | undefined }

/** The operator's command, as an actor; no key has such an id. */
export const commandLine: Doer = { actor: 'weir command' }

export type NewAudit = { org: string; action: AuditAction; subject: string; details?: object }

export const noteAudit = async (db: Database, by: Doer, { org, action, subject, details = {} }: NewAudit) => {
  await db.query(
    `insert into auth.audit (org_id, actor, action, subject, request_id, details) values ($1, $2, $3, $4, $5, $6)`,
    [org, by.actor, action, subject, by.requestId ?? null, JSON.stringify(details)],
  )
}

/** Records of one type that a request replaces, knowing what is there. */
export type Mend = { org: string; keyId: string; requestId: string; type: string; ids: readonly string[] }

// A program that sends if_version with each of its uploads must not fill the audit.
const mostMends = 1000

/** Noted once, however often the request comes, and at most a thousand times of an organisation in 24 hours. */
export const noteMend = async (db: Database, { org, keyId, requestId, type, ids }: Mend): Promise<void> => {
  await db.query({
    name: 'note-mend',
    text: `
      insert into auth.audit (org_id, actor, action, subject, request_id, details)
      select $1, $2, 'records_mended', $3, $4::uuid, jsonb_build_object('records', $5::integer, 'ids', $6::text[])
      where ${mostMends} > (
        select count(*)
        from (
          select from auth.audit
          where org_id = $1 and action = 'records_mended' and at > now() - interval '24 hours'
          limit ${mostMends}
        ) as noted
      )
      on conflict on constraint audit_once do nothing`,
    values: [org, keyId, type, requestId, ids.length, ids.slice(0, idsNoted)],
  })
}
const idsNoted = 10

/** Whether an error says that this request was noted before: then it was done before, too. */
export const isDoneBefore = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '23505' && (error as { constraint?: unknown }).constraint === 'audit_once'

/** An actor as people see it: a key with its name, or the command line. */
export type KnownActor = { actor: string; name: string | null; isOperator: boolean }

export type Audit = Required<NewAudit> & {
  id: number
  at: Date
  requestId: string | null
  by: KnownActor
  /** Its hash in the chain, in hexadecimal digits. */
  chain: string
  redacted: boolean
}

/** An actor in a statement, from its id and from the row of auth.api_keys that has this id, if there is one. */
export const actorSql = (id: string, key: string): string =>
  `case when ${id} is not null then
    json_build_object('actor', ${id}, 'name', ${key}.name, 'isOperator', coalesce(${key}.is_operator, false))
  end`

/** What was done, of one organisation or with null of all, the newest first; behind the row with the id `before`. */
export const listAudit = (
  db: Pool,
  org: string | null,
  { before, most }: { before?: number | undefined; most: number },
): Promise<Audit[]> =>
  rowsOf(
    db,
    `select a.audit_id as id, a.org_id as org, a.at, a.action, a.subject, a.request_id as "requestId", a.details,
      encode(a.chain, 'hex') as chain, a.redacted_at is not null as redacted, ${actorSql('a.actor', 'k')} as by
    from auth.audit a
    left join auth.api_keys k on k.key_id = a.actor
    where ($1::text is null or a.org_id = $1) and ($2::bigint is null or a.audit_id < $2)
    order by a.audit_id desc
    limit $3`,
    [org, before ?? null, most],
  )

/** The id of the key that a request made when it came before. */
export const findMadeKey = async (db: Pool, requestId: string): Promise<string | undefined> =>
  (
    await firstRow<{ keyId: string }>(
      db,
      `select coalesce(details ->> 'key_id', subject) as "keyId"
      from auth.audit
      where request_id = $1 and action in ('key_issued', 'key_rotated')`,
      [requestId],
    )
  )?.keyId
