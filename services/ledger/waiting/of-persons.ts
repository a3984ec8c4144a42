import type { Database } from '#platform/postgres/rows.js'
import { changedBy, rowsOf } from '#platform/postgres/rows.js'
import type { Reference } from '#schemas/record.js'
import { uuidPattern } from '#schemas/uuid.js'

/** A record that waits, with its bytes. */
export type KeptWait = {
  type: string
  id: string
  requestId: string
  since: Date
  until: Date
  missing: Reference[]
  message: Buffer
}

/**
 * Records that wait and have one of these texts in their bytes, by type and id. Avro writes a text as it is, so that a record that names a person has the
 * id in its bytes; one that has it there may still mean something else. UUIDs are found in either case: bytes that are no ASCII are escaped before.
 */
export const findWaitsWith = (
  db: Database,
  asked: { orgId: string; types: readonly string[]; uuids: readonly string[]; texts: readonly string[] },
  { after, limit }: { after?: { type: string; id: string } | undefined; limit: number },
): Promise<KeptWait[]> =>
  rowsOf(
    db,
    `select type, id, request_id as "requestId", since, until, missing, message
    from integrity.waiting w
    where org_id = $1 and state = 'waiting' and type = any ($2)
      and ($5::text is null or (type, id) > ($5, $6::uuid))
      and (
        exists (select from unnest($3::text[]) uuid where position(uuid in lower(encode(w.message, 'escape'))) > 0)
        or exists (select from unnest($4::text[]) given where position(convert_to(given, 'UTF8') in w.message) > 0)
      )
    order by type, id
    limit $7`,
    [asked.orgId, asked.types, asked.uuids, asked.texts, after?.type ?? null, after?.id ?? null, limit],
  )

/**
 * Has such records decided now, before their time, with `isAll` every one of the organisation; resolves to how many wait. What is on its way to
 * its lane is not sent anew. Of many persons the UUIDs are looked for by hashes, in one pass.
 */
export const endWaitsWith = (
  db: Database,
  asked: { orgId: string; isAll: boolean; salt: Buffer; sha256: readonly Buffer[]; texts: readonly string[] },
): Promise<number> =>
  changedBy(
    db,
    `update integrity.waiting w set due_at = coalesce(due_at, now())
    where org_id = $1 and state = 'waiting' and (
      $5 or exists (
        select from regexp_matches(encode(w.message, 'escape'), '${uuidPattern}', 'g') found
        where sha256($2::bytea || convert_to(lower(found[1]), 'UTF8')) = any ($3::bytea[])
      ) or exists (select from unnest($4::text[]) given where position(convert_to(given, 'UTF8') in w.message) > 0)
    )`,
    [asked.orgId, asked.salt, asked.sha256, asked.texts, asked.isAll],
  )
