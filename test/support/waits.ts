import { randomUUID } from 'node:crypto'
import type { Pool } from '#platform/postgres/postgres.js'
import type { WaitState } from '#schemas/events.js'
import type { Reference } from '#schemas/record.js'

/** A record that waits or waited, as a row of integrity.waiting. */
export type WaitRow = {
  batchId: string
  place: number
  org: string
  type: string
  id: string
  requestId: string
  missing: Reference[]
  since: Date
  until: Date
  state: WaitState
  changedAt: Date
  isTold: boolean
  isChecked: boolean
  version: number
  acceptedVersion: number | null
}

/** Inserts a row as integrity does when a record begins to wait, or as it is once that has ended. */
export const insertWait = async (pool: Pool, over: Partial<WaitRow> = {}): Promise<WaitRow> => {
  const since = over.since ?? new Date(Date.UTC(2026, 0, 1))
  const row: WaitRow = {
    ...{ batchId: randomUUID(), place: 0, org: 'acme', type: 'offers', id: randomUUID(), requestId: randomUUID() },
    missing: [{ field: 'shop_id', type: 'shops', id: randomUUID() }],
    ...{ since, until: new Date(since.getTime() + 86_400_000), state: 'waiting', changedAt: since },
    ...{ isTold: true, isChecked: true, version: 8192, acceptedVersion: null },
    ...over,
  }
  const waits = row.state === 'waiting'
  await pool.query(
    `insert into integrity.waiting (batch_id, place, org_id, type, id, request_id, request_index, version, topic, partition,
      message, missing, since, until, state, changed_at, is_told, is_checked, accepted_version)
    values ($1, $2, $3, $4, $5, $6, $2, $7, $8, 0, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      ...[row.batchId, row.place, row.org, row.type, row.id, row.requestId, row.version, `weir.submitted.${row.type}`],
      ...[waits ? Buffer.from('a record') : null, JSON.stringify(row.missing), row.since, row.until, row.state],
      ...[row.changedAt, row.isTold, row.isChecked, row.acceptedVersion],
    ],
  )
  for (const { type, id } of waits ? row.missing : [])
    await pool.query(
      'insert into integrity.waiting_for (org_id, type, id, batch_id, place) values ($1, $2, $3, $4, $5)',
      [row.org, type, id, row.batchId, row.place],
    )
  return row
}
