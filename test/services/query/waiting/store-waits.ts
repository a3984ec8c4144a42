import type { Wait } from '#ledger/waiting/look-up.js'
import type { Pool } from '#platform/postgres/postgres.js'

/** Stores records that wait or waited, and what they wait for, as integrity does. */
export const storeWaits = async (pool: Pool, waits: readonly Wait[]): Promise<void> => {
  for (const wait of waits) {
    const { orgId, type, id, requestId, batchId, place, index, state, missing, since, until, changedAt, problems } =
      wait
    await pool.query(
      `insert into integrity.waiting (batch_id, place, org_id, type, id, request_id, request_index, version, topic, partition,
        missing, since, until, state, changed_at, problems)
      values ($1, $2, $3, $4, $5, $6, $7, 1, 'weir.submitted.' || $4, 0, $8, $9, $10, $11, $12, $13)`,
      [
        ...[batchId, place, orgId, type, id, requestId, index, JSON.stringify(missing), since, until, state, changedAt],
        problems && JSON.stringify(problems),
      ],
    )
    for (const one of state === 'waiting' ? missing : [])
      await pool.query(
        'insert into integrity.waiting_for (org_id, type, id, batch_id, place) values ($1, $2, $3, $4, $5)',
        [orgId, one.type, one.id, batchId, place],
      )
  }
}
