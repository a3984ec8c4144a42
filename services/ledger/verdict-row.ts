import type { VerdictEvent } from '#schemas/events.js'

export type VerdictRow = Omit<VerdictEvent, 'decided_at'> & { decided_at: Date }

export const verdictColumns = `batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
        decided_at, accepted, refused`

export const toVerdict = (row: VerdictRow): VerdictEvent => ({ ...row, decided_at: row.decided_at.getTime() })
