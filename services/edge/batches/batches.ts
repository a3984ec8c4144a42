import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import { batchIdOf } from '#schemas/uuid.js'
import type { Entry } from './entries.js'

export type BatchLimits = { records: number; bytes: number }

/** Consecutive slices within both limits; a record that is larger than a batch may be has a slice to itself. */
export const cut = <E extends { size: number }>(entries: readonly E[], limits: BatchLimits): E[][] => {
  const slices: E[][] = []
  let slice: E[] = []
  let bytes = 0
  for (const entry of entries) {
    if (slice.length > 0 && (slice.length === limits.records || bytes + entry.size > limits.bytes)) {
      slices.push(slice)
      slice = []
      bytes = 0
    }
    slice.push(entry)
    bytes += entry.size
  }
  return slice.length > 0 ? [...slices, slice] : slices
}

export type RequestFacts = {
  orgId: string
  requestId: string
  bodySha256: Buffer
  submittedAt: number
  lanes?: number
  /** Which topics of the submitted log it was cut for. */
  generation?: number | undefined
  /** What the ids of its batches are counted from, where it is a part of a request whose other part was cut otherwise. */
  idsFrom?: number
  /** How many milliseconds its records wait for what they refer to; without it they are refused at once. */
  wait?: number | undefined
  /** The API key that it was sent with; null or absent where that was none, or is not known. */
  keyId?: string | null
}

/** How a request was cut: `placeAt` gives the index in the request of the n-th record, `laneAt` the lane of the n-th slice. */
export type HowCut = { placeAt: (n: number) => number; laneAt: (n: number) => number }

const inOneLane: HowCut = { placeAt: (n) => n, laneAt: () => 0 }

/** The batches of one request, each of them one event; numbered from 1 in the order of the slices. */
export const toBatches = (
  slices: readonly Entry[][],
  request: RequestFacts,
  { placeAt, laneAt }: HowCut = inOneLane,
): OutgoingBatch[] => {
  let count = 0
  return slices.map((slice, i) => {
    const before = count
    count += slice.length
    const first = placeAt(before)
    return {
      org_id: request.orgId,
      request_id: request.requestId,
      batch_id: batchIdOf(request.requestId, (request.idsFrom ?? 0) + before, slice.length, request.lanes),
      batch: i + 1,
      batches: slices.length,
      first_index: first,
      lane: laneAt(i),
      ...(request.generation && { generation: request.generation }),
      submitted_at: request.submittedAt,
      body_sha256: request.bodySha256,
      ...(request.wait !== undefined && { wait_until: request.submittedAt + request.wait }),
      ...(request.keyId && { key_id: request.keyId }),
      ...split(slice, (n) => placeAt(before + n) - first),
    }
  })
}

const split = (
  slice: readonly Entry[],
  indexAt: (n: number) => number,
): Pick<OutgoingBatch, 'records' | 'refusals'> => {
  const records: OutgoingBatch['records'] = []
  const refusals: OutgoingBatch['refusals'] = []
  slice.forEach((entry, n) => {
    const index = indexAt(n)
    if ('refusal' in entry) refusals.push({ ...entry.refusal, index })
    else {
      // Set in place: a copy of each of 5000 records would be garbage a moment later.
      entry.index = index
      records.push(entry)
    }
  })
  return { records, refusals }
}
