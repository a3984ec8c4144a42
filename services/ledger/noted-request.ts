import type { SubmittedBatch } from '#schemas/events.js'
import { countOf } from '../edge/batches/batches.js'
import { batchIdOf } from '../edge/http/ids.js'

/** What is kept of a request that is not answered quickly: enough to tell of it before anything is decided. */
export type NotedRequest = {
  requestId: string
  orgId: string
  type: string
  bodySha256: Buffer
  /** How many records each of its batches carries. */
  batchRecords: number[]
  submittedAt: number
  /** How many batches, from the first on, Kafka is known to have; null while they are being published. */
  written: number | null
}

type Request = Pick<NotedRequest, 'requestId' | 'orgId' | 'type' | 'bodySha256' | 'submittedAt'>

export const toNoted = (request: Request, batches: readonly SubmittedBatch[]): NotedRequest => ({
  requestId: request.requestId,
  orgId: request.orgId,
  type: request.type,
  bodySha256: request.bodySha256,
  batchRecords: batches.map(countOf),
  submittedAt: request.submittedAt,
  written: null,
})

export const batchIdsOf = ({ requestId, batchRecords }: NotedRequest): string[] => {
  let first = 0
  return batchRecords.map((count) => {
    const id = batchIdOf(requestId, first, count)
    first += count
    return id
  })
}
