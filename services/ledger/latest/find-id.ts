import type { Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'

/** Something of an organisation that has an id; `requestId` is the request that a batch came in. */
export type FoundThing = { kind: 'record' | 'request' | 'batch'; type: string; requestId: string | null }

/**
 * What has this id, as far as Postgres knows: records that others may refer to or that wait, requests, batches. Each part is found by
 * an index; records that nobody refers to are in ClickHouse alone.
 */
export const findThings = (
  pool: Pool,
  { orgId, id, types }: { orgId: string; id: string; types: readonly string[] },
): Promise<FoundThing[]> =>
  rowsOf(pool, {
    name: 'find-things',
    text: `
      select 'record' as kind, type, null::uuid as "requestId"
      from integrity.entities
      where org_id = $1 and type = any ($3::text[]) and id = $2::uuid
      union
      select 'record', type, null
      from integrity.waiting
      where org_id = $1 and type = any ($3::text[]) and id = $2::uuid and state = 'waiting'
      union
      select 'request', type, null
      from integrity.verdicts
      where request_id = $2::uuid and org_id = $1 and request_id <> batch_id
      union
      select 'request', type, null
      from edge.requests
      where request_id = $2::uuid and org_id = $1
      union
      select 'request', v.type, null
      from integrity.keyed_requests k
      join integrity.verdicts v on v.batch_id = k.batch_id
      where k.request_id = $2::uuid and v.org_id = $1
      union
      select 'batch', type, request_id
      from integrity.verdicts
      where batch_id = $2::uuid and org_id = $1
      order by 1, 2`,
    values: [orgId, id, types],
  })
