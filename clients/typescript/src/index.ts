import { createCall } from './call.js'
import { createFeeds, type Feeds } from './downstream/feeds.js'
import { createImport, type ImportBody, type ImportOptions, type ImportResult } from './files/import.js'
import { createInteractions, type Interactions } from './interactions.js'
import { type AuditList, createAudit, createKeys, type Keys } from './keys.js'
import { createErasures, type Erasures } from './persons/erasures.js'
import { createPersons, type Persons } from './persons/export.js'
import { type RecordTypes, recordTypes, type TypeName } from './record-types.js'
import { createQuality, createRejections, type Quality, type Rejections } from './rejections.js'
import { createRequests, type Requests } from './requests.js'
import { createSendTexts, type SendRecordsOptions, type SendResult, toText } from './send.js'
import { createRecorder, type Recorder, type RecorderOptions } from './under-way/recorder.js'
import { type UploadOptions, type UploadSummary, uploadAll } from './upload.js'
import { createWaiting, type WaitingRecords } from './waiting.js'
import { WeirError } from './weir-error.js'

export type { CallOptions, RetryNotice } from './call.js'
export type { CursorStore, EventReader, FeedOptions, Feeds, ReadOptions } from './downstream/feeds.js'
export { verifyWebhook, type WebhookHeaders, type WebhookMessage, type WebhookOptions } from './downstream/webhooks.js'
export type {
  AwaitedRecord,
  Erasure,
  ErasureWithProof,
  FeedEvent,
  FeedPage,
  PersonExport,
  VersionConflict,
} from './endpoints.js'
export type { ImportBody, ImportOptions, ImportResult } from './files/import.js'
export type {
  InteractionFilter,
  InteractionInWaiting,
  Interactions,
  InteractionTaken,
  RecordInteraction,
  RecordOptions,
} from './interactions.js'
export type { AuditEntry, AuditList, AuditVerification, KeyOptions, Keys, NewOwnKey, OwnKey } from './keys.js'
export type { ListOptions, TimeGiven } from './pages.js'
export type { Erasures, ErasureWanted, UntilDoneOptions } from './persons/erasures.js'
export type { Persons } from './persons/export.js'
export type * from './record-types.js'
export { recordTypes } from './record-types.js'
export type {
  Quality,
  QualityOfDay,
  RecordChange,
  RejectedGroup,
  RejectedRecord,
  RejectedValue,
  RejectedValuesFilter,
  RejectionFilter,
  RejectionRetry,
  Rejections,
  RetryOptions,
} from './rejections.js'
export type {
  EndedWaiting,
  MissingReference,
  RefusedRecord,
  RequestOutcome,
  Requests,
  WaitingForOthers,
} from './requests.js'
export type { SendRecordsOptions, SendResult } from './send.js'
export { createIdGate, type IdGate, type IdTurn } from './under-way/id-gate.js'
export { createInFlight, type InFlight, type InFlightPlace } from './under-way/in-flight.js'
export type {
  Recorder,
  RecorderCounts,
  RecorderLoss,
  RecorderOptions,
  RecorderRefusal,
} from './under-way/recorder.js'
export type { UploadOptions, UploadRefusal, UploadSummary, UploadWaiting } from './upload.js'
export type { RecordInWaiting, WaitingFilter, WaitingRecords, WaitOptions } from './waiting.js'
export { type RecordProblem, type UploadProgress, WeirError, type WeirErrorKind } from './weir-error.js'

/** What can be done with records of one type. */
export type Uploads<Item> = {
  /** The path segment of the type, the field that identifies a record, and how many one request may carry. */
  readonly type: string
  readonly id: string
  readonly limit: number
  /** Sends records as one request, again where that may help, and resolves when each of them is decided. */
  send: (records: readonly Item[], options?: SendRecordsOptions) => Promise<SendResult>
  /** Sends any number of records, cut into requests, a few at a time. */
  upload: (records: Iterable<Item> | AsyncIterable<Item>, options?: UploadOptions<Item>) => Promise<UploadSummary>
  /** Sends a file as it is, CSV or NDJSON of any length, in one request that is gone on with where it is cut off. */
  import: (body: ImportBody, options: ImportOptions) => Promise<ImportResult>
}

export type Weir = { readonly [Name in keyof RecordTypes]: Uploads<RecordTypes[Name]> } & {
  /** The same for a type whose name is known only at run time: its path segment, like `shop-categories`. */
  of: (type: string) => Uploads<Record<string, unknown>>
  /** Besides: one interaction in a request of its own, and reading them back. */
  interactions: Interactions
  /** For interactions that come one by one, and are to be sent many at a time. */
  recorder: (options?: RecorderOptions) => Recorder
  /** What was accepted, in the order in which it was. */
  feeds: Feeds
  requests: Requests
  rejections: Rejections
  quality: Quality
  waiting: WaitingRecords
  /** What is kept about a person, and people who are to be forgotten. */
  persons: Persons
  erasures: Erasures
  keys: Keys
  audit: AuditList
}

export type WeirConfig = {
  /** Where Weir is, like `https://weir.example.com`. */
  url: string
  key: string
  /** Another implementation of fetch, for a proxy or a test. */
  fetch?: typeof globalThis.fetch
}

export const createWeir = ({ url, key, fetch = globalThis.fetch }: WeirConfig): Weir => {
  const call = createCall({ url: readUrl(url), key: readKey(key), fetch })
  const sendTexts = createSendTexts(call)
  const importBody = createImport(call)

  const uploadsOf = <Item>(name: keyof RecordTypes): Uploads<Item> => {
    const type = recordTypes[name]
    return {
      ...type,
      send: (records, options) => sendTexts(type, records.map(toText), options),
      upload: (records, options) => uploadAll({ type, sendTexts }, records, options),
      import: (body, options) => importBody(type, body, options),
    }
  }
  const names = Object.keys(recordTypes) as (keyof RecordTypes)[]
  const uploads = Object.fromEntries(names.map((name) => [name, uploadsOf(name)])) as {
    [Name in keyof RecordTypes]: Uploads<RecordTypes[Name]>
  }
  return {
    ...uploads,
    of: (type) => {
      const name = names.find((known) => recordTypes[known].type === type)
      if (name) return uploadsOf(name)
      const known = names.map((known): TypeName => recordTypes[known].type)
      throw new WeirError('usage', `there is no type ${JSON.stringify(type)}`, `the types are ${known.join(', ')}`)
    },
    recorder: (options) => createRecorder(sendTexts, options),
    interactions: { ...uploads.interactions, ...createInteractions(call) },
    feeds: createFeeds(call),
    requests: createRequests(call),
    rejections: createRejections(call),
    quality: createQuality(call),
    waiting: createWaiting(call),
    persons: createPersons(call),
    erasures: createErasures(call),
    keys: createKeys(call),
    audit: createAudit(call),
  }
}

const readUrl = (given: string): string => {
  const refuse = (message: string) =>
    new WeirError('usage', message, "give createWeir the url of Weir, like { url: 'https://weir.example.com', key }")
  let url: URL
  try {
    url = new URL(given)
  } catch {
    throw refuse(`${JSON.stringify(given)} is not a url`)
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse(`the url begins with ${url.protocol}`)
  if (url.username || url.password || url.search || url.hash)
    throw refuse('the url must have no user, query or fragment')
  return url.href.replace(/\/+$/, '')
}

const readKey = (key: string): string => {
  // Whatever else is in it would end in an error of fetch that shows the whole header.
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key
  throw new WeirError(
    'usage',
    'the key is empty or has characters that no key has',
    'give createWeir the key as the operator issued it, without blanks or line ends',
  )
}
