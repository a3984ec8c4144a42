import type { Connection } from '#platform/postgres.js'
import type { StoredVerdict } from '../stored-verdict.js'

// As one JSON document: rows of arrays (`repeated`) cannot be unnested column by column.
export const insertVerdicts = async (connection: Connection, verdicts: readonly StoredVerdict[]): Promise<void> => {
  await connection.query({
    name: 'insert-verdicts',
    text: `
      insert into integrity.verdicts (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
        accepted, refused, repeated, decided_at, topic, partition, submitted_offset)
      select v.batch_id, v.org_id, v.request_id, v.type, v.batch, v.batches, v.first_index,
        decode(v.body_sha256, 'hex'), v.accepted, v.refused, v.repeated,
        to_timestamp(v.decided_at / 1000.0), v.topic, v.partition, v.submitted_offset
      from json_to_recordset($1) as v (batch_id uuid, org_id text, request_id uuid, type text, batch integer,
        batches integer, first_index integer, body_sha256 text, accepted integer, refused json, repeated integer[],
        decided_at double precision, topic text, partition integer, submitted_offset bigint)`,
    values: [JSON.stringify(verdicts.map((v) => ({ ...v, body_sha256: v.body_sha256.toString('hex') })))],
  })
}
