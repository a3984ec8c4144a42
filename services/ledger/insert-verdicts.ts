import type { Connection } from '#platform/postgres/postgres.js'
import type { StoredVerdict } from './stored-verdict.js'

// Column by column: as one JSON document it would be read, and a refused record's \u0000 would stop the consumer.
export const insertVerdicts = async (connection: Connection, verdicts: readonly StoredVerdict[]): Promise<void> => {
  const column = <T>(value: (verdict: StoredVerdict) => T): T[] => verdicts.map(value)
  await connection.query({
    name: 'insert-verdicts',
    text: `
      insert into integrity.verdicts (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
        accepted, refused, repeated, decided_at, topic, partition, submitted_offset)
      select batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
        accepted, refused, repeated::integer[], decided_at, topic, partition, submitted_offset
      from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::integer[], $6::integer[], $7::integer[],
        $8::bytea[], $9::integer[], $10::json[], $11::text[], $12::timestamptz[], $13::text[], $14::integer[],
        $15::bigint[])
        as v (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
          accepted, refused, repeated, decided_at, topic, partition, submitted_offset)`,
    values: [
      column((v) => v.batch_id),
      column((v) => v.org_id),
      column((v) => v.request_id),
      column((v) => v.type),
      column((v) => v.batch),
      column((v) => v.batches),
      column((v) => v.first_index),
      column((v) => v.body_sha256),
      column((v) => v.accepted),
      column((v) => JSON.stringify(v.refused)),
      // Arrays of arrays must be of one length: each goes as its text.
      column((v) => `{${v.repeated.join(',')}}`),
      column((v) => new Date(v.decided_at)),
      column((v) => v.topic),
      column((v) => v.partition),
      column((v) => v.submitted_offset),
    ],
  })
}
