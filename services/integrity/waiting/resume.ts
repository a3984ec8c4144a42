import { randomUUID } from 'node:crypto'
import type { SentWait } from '#ledger/waiting/relay.js'
import { headerOf, type Registry } from '#platform/registry.js'
import { createBatchCodec, type OutgoingRecord, type ScannedBatch } from '#schemas/byte-path/byte-path.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedTopic } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import type { ReadBatch } from '../read-batch.js'

/** How records of one type are kept while they wait, and how they come to their lane again. */
export type ResumeBytes = {
  /** The record at a place of a batch as a submitted batch of its own: with its schema's id, so that later versions can read it. */
  keep: (batch: ScannedBatch) => (place: number) => Buffer
  /** A batch of records that waited, all of one organisation. Throws where one of them cannot be read by this version. */
  resume: (waits: readonly SentWait[], now: number) => Promise<{ batchId: string; value: Buffer }>
}

export const createResumeBytes = async (
  type: RecordType,
  registry: Pick<Registry, 'prepare'>,
  read: ReadBatch,
): Promise<ResumeBytes> => {
  const subject = subjectOf(submittedTopic(type.type))
  const header = headerOf(await registry.prepare(subject, submittedSchema(type)))
  const { encode, frame } = createBatchCodec(type)

  return {
    keep: (batch) => {
      const { org_id, request_id, batch_id, submitted_at, body_sha256 } = batch
      const alone = { batch: 1, batches: 1, first_index: 0, refusals: [] }
      const encodeWith = frame({ org_id, request_id, batch_id, submitted_at, body_sha256, ...alone }, header)
      const placeAt = new Map(batch.records.map(({ index }, n) => [index, n]))
      return (place) => encodeWith([recordAt(batch, placeAt.get(place) ?? -1, 0)])
    },
    resume: async (waits, now) => {
      const id = randomUUID()
      const records: OutgoingRecord[] = []
      for (const [index, { message }] of waits.entries()) records.push(recordAt(await read(message), 0, index))
      const value = encode(
        {
          org_id: waits[0]?.orgId ?? '',
          request_id: id,
          batch_id: id,
          batch: 1,
          batches: 1,
          first_index: 0,
          submitted_at: now,
          body_sha256: noBody,
          records,
          refusals: [],
          wait_until: null,
          resumed: waits.map((wait, index) => ({
            index,
            request_id: wait.requestId,
            batch_id: wait.batchId,
            place: wait.place,
            request_index: wait.requestIndex,
            version: wait.version,
            since: wait.since,
            until: wait.until,
          })),
        },
        header,
      )
      return { batchId: id, value }
    },
  }
}

// It came in no request of its own.
const noBody = Buffer.alloc(32)

/** The n-th record of a batch, on its way out to another one. */
const recordAt = ({ message, records, begins, ends }: ScannedBatch, n: number, index: number): OutgoingRecord => {
  const [record, at, end] = [records[n], begins[n], ends[n]]
  if (!record || at === undefined || end === undefined) throw new Error(`there is no record ${n}`)
  return { index, keyedSha256: record.keyed_sha256, avro: message, at, size: end - at }
}
