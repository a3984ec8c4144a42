import type { Value, Values } from './field.js'
import type { Refused } from './problem.js'
import type { Reference } from './record.js'

// The events on the topics, as the code sees them; `derive/avro.ts` says how they are written.

/** A refusal by the edge. It carries the record itself, so that nothing that was sent is missing from the submitted log. */
export type Refusal = Refused & { record: string; truncated: boolean }

/** Where what an event is about came in. */
type Origin = { org_id: string; request_id: string; batch_id: string }

/** One batch of one request: what the edge publishes. */
export type SubmittedBatch = Origin & {
  /** This batch's number, from 1, and how many the request was cut into. */
  batch: number
  batches: number
  /** Where in the request the first of its records is. */
  first_index: number
  submitted_at: number
  body_sha256: Buffer
  records: SubmittedRecord[]
  refusals: Refusal[]
  /** Whether each record came in a request of its own, as interactions do; see `interactionRequestId`. */
  gathered?: boolean
  /** Records and refusals of a gathered batch that came with an Idempotency-Key, and the request ids derived from the keys. */
  keyed_requests?: KeyedRequest[]
  /** Until when its records wait for references that are missing; null or absent where they are refused at once. */
  wait_until?: number | null
  /** In a batch that integrity wrote itself, to have records that waited decided anew: where each of them came from. */
  resumed?: Resumed[]
  /** The id of the API key that it was sent with; null or absent where it was sent without one, or that is not known. */
  key_id?: string | null
}

/** A record that waited. `index` is its place in this batch; the rest says where it was first submitted, as which version. */
export type Resumed = {
  index: number
  request_id: string
  batch_id: string
  place: number
  request_index: number
  version: number
  since: number
  until: number
}

/** A record that waits until what it refers to is there; `index` is its place in the batch. */
export type Waiting = { index: number; id: string; for: Reference[]; until: number }

/** `index` is the place in the batch. */
export type KeyedRequest = { index: number; request_id: string }

/** How many records of the request are in a batch, valid or not. */
export const recordsIn = ({ records, refusals }: BatchParts): number => records.length + refusals.length
/** What a batch holds, in whatever form. */
export type BatchParts = { records: { length: number }; refusals: { length: number } }

/** `index` is counted in the request, from the batch's first record on: lanes leave gaps. A keyed record is taken once only. */
export type SubmittedRecord = { index: number; keyed_sha256: Buffer | null } & { [field: string]: Value | Buffer }

export type AcceptedEvent = Origin & { accepted_at: number; version: number } & Values

export type RejectedEvent = Origin & Refusal & { rejected_at: number; version: number; type: string }

export type VerdictEvent = Origin & {
  type: string
  batch: number
  batches: number
  first_index: number
  body_sha256: Buffer
  decided_at: number
  accepted: number
  refused: Refused[]
  /** Neither accepted nor refused yet. Absent where nothing waits. */
  waiting?: Waiting[]
}

/** What a record's waiting has come to. */
export type WaitState = 'waiting' | 'accepted' | 'refused' | 'superseded' | 'cancelled'

/** A person was erased: whoever has the ids can tell who, and nobody else. */
export type ErasedEvent = {
  org_id: string
  erasure_id: string
  mode: string
  /** What becomes of later uploads that name the person: refuse, or new. */
  afterwards: string
  erased_at: number
  /** In hexadecimal digits. */
  salt: string
  ids_sha256: string[]
}

export type WaitingEvent = Origin & {
  version: number
  type: string
  /** In the records of the request. */
  index: number
  id: string
  state: WaitState
  missing: Reference[]
  since: number
  until: number
  changed_at: number
}
