import type { EraseStep, Expected, InteractionStep, UploadStep } from './plan.js'

/** What clients were told, and what they may hold Weir to. */
export type Ledger = {
  orgs: string[]
  /** In the order in which each client was told; a client's ids are its own. */
  uploads: ToldUpload[]
  interactions: ToldInteraction[]
  retries: ToldRetry[]
  erasures: ToldErasure[]
  /** How many imports were answered as complete; each of their chunks is among the uploads. */
  imports: number
  /** How many events were seen on live streams. */
  watched: number
  /** Every time that a batch's outcome was told, by batch id: the same each time, if all is well. */
  tellings: Map<string, Set<string>>
  /** Answers that no client should ever get. */
  surprises: string[]
}

export type ToldUpload = {
  org: string
  step: UploadStep
  requestId: string
  /** When it was sent for the first time. */
  sentAt?: number
  attempts: number
  batches: ToldBatch[]
}

export type ToldBatch = {
  batchId: string
  batch: number
  status: number
  /** Where its records are in the request. */
  places: number[]
  /** By index in the request. */
  refused: { index: number; codes: string[] }[]
  /** Those that waited when the batch was decided, by index in the request. */
  waited: number[]
}

/** Without a key an interaction whose answer was lost is left alone: it is there once or not at all. */
export type ToldInteraction = {
  org: string
  step: InteractionStep
  attempts: number
  /** One that waits is accepted in the end. */
  outcome: 'accepted' | 'waits' | 'refused' | 'doubtful'
  /** Null where it was never answered. */
  requestId: string | null
  /** It came with others in one request. */
  isOneOfMany?: true
  interactionId: string | null
}

/** Refused records that were ordered to be submitted again, by several orders at once, and what became of these. */
export type ToldRetry = {
  org: string
  /** Of the upload that they were refused in. */
  requestId: string
  records: number
  expected: Expected
  orders: RetryOrder[]
}
export type RetryOrder = {
  request_id: string
  status: string
  submitted: number
  accepted: number
  refused: number
  given_up: number
  requests: { request_id: string }[]
}

/** Somebody who was to be forgotten, by all names, and in which way. */
export type ToldErasure = Pick<EraseStep, 'mode' | 'afterwards'> & {
  org: string
  erasureId: string
  names: string[]
  /** When its client was told that it is done; null before. */
  doneAt: number | null
}

export const createLedger = (orgs: string[]): Ledger => ({
  orgs,
  uploads: [],
  interactions: [],
  retries: [],
  erasures: [],
  imports: 0,
  watched: 0,
  tellings: new Map(),
  surprises: [],
})
