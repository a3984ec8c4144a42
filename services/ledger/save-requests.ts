import type { Pool } from '#platform/postgres/postgres.js'
import type { NotedRequest } from './noted-request.js'

/**
 * Notes requests, each once in a call. A request that is sent again takes the place of what was noted before, except that
 * what was written stays so. Resolves to the ids of those that were noted: the others' key was used with another body.
 */
export const saveRequests = async (pool: Pool, requests: readonly NotedRequest[]): Promise<Set<string>> => {
  const column = <T>(value: (request: NotedRequest) => T): T[] => requests.map(value)
  const { rows } = await pool.query<{ request_id: string }>({
    name: 'save-requests',
    // Ordered, so that two edges that note the same ones wait for each other instead of deadlocking.
    text: `
      insert into edge.requests as kept
        (request_id, org_id, type, body_sha256, batch_records, submitted_at, written)
      select request_id, org_id, type, body_sha256, batch_records::integer[], submitted_at, written
      from unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::timestamptz[], $7::integer[])
        as given (request_id, org_id, type, body_sha256, batch_records, submitted_at, written)
      order by request_id
      on conflict (request_id) do update set
        batch_records = excluded.batch_records,
        submitted_at = excluded.submitted_at,
        written = case
          when kept.batch_records = excluded.batch_records and kept.written = cardinality(kept.batch_records)
          then kept.written
          else excluded.written
        end
      where kept.org_id = excluded.org_id and kept.body_sha256 = excluded.body_sha256
      returning request_id`,
    values: [
      column((r) => r.requestId),
      column((r) => r.orgId),
      column((r) => r.type),
      column((r) => r.bodySha256),
      // Arrays of arrays must be of one length: each goes as its text.
      column((r) => `{${r.batchRecords.join(',')}}`),
      column((r) => new Date(r.submittedAt)),
      column((r) => r.written),
    ],
  })
  return new Set(rows.map(({ request_id }) => request_id))
}
