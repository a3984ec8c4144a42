// Derived from schemas/endpoints; to write it anew: npm run publish-schemas

export interface ImportBatch {
  /** counted over the whole import */
  batch: number
  status: 200 | 207 | 400 | 500
  /** of the part of the import that the batch is of */
  request_id: string
  batch_id: string | null
  from_line: number
  to_line: number
  accepted: number
  /** `index` is counted over the whole import */
  refused: RecordError[]
  /** likewise */
  waiting: RecordWait[]
}

export interface RecordError {
  /** place in the request's records */
  index: number
  /** where it begins, in the answer to a body that has lines */
  line?: number
  /** what was given as its id */
  id: string | null
  problems: Problem[]
}

export interface Problem {
  /** null where it is the record as a whole */
  field: string | null
  /** stable: branch on this */
  code: 'missing_field' | 'unknown_field' | 'wrong_type' | 'bad_format' | 'out_of_range' | 'not_one_of' | 'unknown_reference' | 'too_many_waiting' | 'overtaken' | 'idempotency_conflict' | 'undecodable' | 'unreadable' | 'person_erased'
  /** for people */
  message: string
}

export interface RecordWait {
  /** place in the request's records */
  index: number
  /** where it begins, in the answer to a body that has lines */
  line?: number
  id: string
  /** what is missing */
  for: Reference[]
  until: string
}

export interface Reference {
  /** the field that refers to it */
  field: string
  type: string
  id: string
}

export interface ImportSummary {
  summary: {
    request_id: string
    type: string
    /** in the batches above */
    records: number
    accepted: number
    refused: number
    waiting: number
    batches: number
    /** whether all of the body was read and decided */
    complete: boolean
    /** what happened and, where it is not complete, how to go on */
    message: string
  }
}

export interface VersionConflict {
  /** place in the request's records */
  index: number
  id: string
  /** the record as it was sent */
  sent: Record<string, unknown>
  /** what it would replace; null where there is nothing */
  current: {
    /** what `if_version` has to be to overwrite it */
    version: number
    accepted_at: string
    /** as it is now */
    record: Record<string, unknown>
  } | null
}

export interface UploadAnswer {
  request_id: string
  type: string
  batches: BatchAnswer[]
}

export interface BatchAnswer {
  batch: number
  status: 200 | 202 | 207 | 400 | 500
  data: {
    status: 'success' | 'partial' | 'error' | 'pending'
    type: string
    /** a summary */
    message: string
    request_id: string
    /** null where the batch is pending and its id is not known */
    batch_id: string | null
    /** null where nothing was refused */
    error: string | null
    errors?: RecordError[]
    /** records that wait for what they refer to */
    waiting?: RecordWait[]
    /** records that waited, and what came of them; in a look-up, or where a request is sent again */
    waited?: RecordWaited[]
  }
}

export interface RecordWaited {
  /** place in the request's records */
  index: number
  /** where it begins, in the answer to a body that has lines */
  line?: number
  id: string
  /** `accepted`: what was missing came. `refused`: its time was up; it is among `errors` too. `superseded`: a newer record of the same id took its place. `cancelled`: somebody of your organisation ended it. */
  state: 'accepted' | 'refused' | 'superseded' | 'cancelled'
  /** when it ended to wait */
  at: string
}

export interface Rejection {
  /** the same each time that it is listed */
  rejection_id: string
  type: string
  /** what was given as its id */
  id: string | null
  /** place in the request's records */
  index: number
  request_id: string
  batch_id: string
  rejected_at: string
  /** as it was given; where `truncated`, the text of its beginning */
  record: unknown
  /** whether the record was too large to be kept whole; it cannot be retried */
  truncated: boolean
  problems: Problem[]
  /** what has happened since. `retried`: submitted again by a retry, see `retry`. `accepted_since`: a later record of the same id was accepted. `overtaken`: a later record of the same id was refused too, or waits, and none was accepted. `open`: nothing. */
  state: 'open' | 'retried' | 'accepted_since' | 'overtaken'
  /** the version of the accepted record of the same id, for `if_version` of an upload that mends this one; null where there is none */
  current_version: number | null
  retry?: {
    outcome: 'waiting' | 'accepted' | 'refused'
    /** the request that it was submitted in */
    request_id: string | null
    retried_at: string
    answered_at: string | null
    /** of the retry; null where an operator did it */
    retry_request_id: string | null
  }
}

export interface RejectionGroup {
  type: string
  code: 'missing_field' | 'unknown_field' | 'wrong_type' | 'bad_format' | 'out_of_range' | 'not_one_of' | 'unknown_reference' | 'too_many_waiting' | 'overtaken' | 'idempotency_conflict' | 'undecodable' | 'unreadable' | 'person_erased'
  field: string | null
  /** records with this problem */
  count: number
  first_seen: string
  last_seen: string
  /** the newest of them */
  sample: {
    rejection_id: string
    id: string | null
    /** for people */
    message: string | null
    /** as it was given; where `truncated`, the text of its beginning */
    record: unknown
    /** whether the record is longer than is shown here */
    truncated: boolean
  } | null
}

export interface RetryPlan {
  request_id: string
  status: 'running' | 'done'
  dry_run: boolean
  /** rejections that the filter means; with a `cursor`, those behind it */
  matched: number
  /** of these, how many are submitted again */
  submitted: number
  skipped: {
    /** retried before, or being retried */
    already_retried: number
    /** a later record of the same id was accepted */
    accepted_since: number
    /** too large to be kept whole, or of no type that can be submitted */
    not_kept_whole: number
    /** not looked at by this call: ask for these with `next_cursor` */
    over_limit: number
  }
  /** where to go on: `cursor` of the next call; null where all were looked at */
  next_cursor: string | null
  /** the first few of them, where `change` is given */
  samples?: ({
    rejection_id: string
    id: string | null
    /** the value that was sent; not there where the field is not */
    before?: unknown
    /** the value that would be submitted */
    after?: unknown
    /** what would still be wrong with the record by itself */
    problems: Problem[]
  })[]
}

export interface RetryOrder {
  request_id: string
  status: 'running' | 'done'
  dry_run: boolean
  /** rejections that the filter means; with a `cursor`, those behind it */
  matched: number
  /** of these, how many are submitted again */
  submitted: number
  skipped: {
    /** retried before, or being retried */
    already_retried: number
    /** a later record of the same id was accepted */
    accepted_since: number
    /** too large to be kept whole, or of no type that can be submitted */
    not_kept_whole: number
    /** not looked at by this call: ask for these with `next_cursor` */
    over_limit: number
  }
  /** where to go on: `cursor` of the next call; null where all were looked at */
  next_cursor: string | null
  /** not decided yet */
  waiting: number
  /** accepted now */
  accepted: number
  /** refused again, as new rejections */
  refused: number
  /** not submitted after all: their ids were accepted meanwhile, or their records are gone */
  given_up: number
  /** the first hundred requests that they were submitted in */
  requests: {
    request_id: string
    type: string
    /** accepted */
    accepted: number
    /** refused */
    refused: number
  }[]
}

export interface QualityDay {
  type: string
  day: string
  /** accepted, refused, waiting and undecided */
  received: number
  /** each version of a record counts */
  accepted: number
  /** refused */
  refused: number
  /** came on that day, and still wait for a record that they refer to */
  waiting: number
  /** waited, until a newer record of their id came or somebody cancelled it */
  undecided: number
  /** the five commonest problems */
  top_codes: ({
    code: 'missing_field' | 'unknown_field' | 'wrong_type' | 'bad_format' | 'out_of_range' | 'not_one_of' | 'unknown_reference' | 'too_many_waiting' | 'overtaken' | 'idempotency_conflict' | 'undecodable' | 'unreadable' | 'person_erased'
    /** refused records with one */
    count: number
  })[]
  last_accepted_at: string | null
}

export interface AwaitedRecord {
  type: string
  id: string
  /** how many records wait for it */
  waiting: number
  /** since when the first of them */
  oldest: string
  /** until when the first of them */
  first_until: string
  /** some of them */
  sample: ({
    type: string
    id: string
    /** the field that refers to the missing record */
    field: string | null
    request_id: string
    /** place in the request's records */
    index: number
    until: string
  })[]
}

export interface WaitingRecord {
  type: string
  id: string
  request_id: string
  batch_id: string
  /** place in the request's records */
  index: number
  /** what is missing */
  for: Reference[]
  since: string
  until: string
}

export interface FeedEvent {
  type: string
  id: string
  /** of two events of one record, the higher is the later; one that comes again has the same */
  version: number
  accepted_at: string
  /** whether this version deleted the record */
  is_deleted: boolean
  /** every field of the type, null where the record has none; times are in UTC */
  record: Record<string, unknown>
}

export interface FeedPage {
  /** empty where there is nothing more at this moment */
  events: FeedEvent[]
  /** what to give as `after` next; also in the header `Weir-Next-Cursor` */
  next: string
}

export interface Webhook {
  webhook_id: string
  url: string
  events: ('records.accepted' | 'request.completed' | 'rejections.digest' | 'waiting.expired' | 'person.erased')[]
  created_at: string
  /** whether anything is delivered to it */
  enabled: boolean
  disabled_at: string | null
  /** why, in words */
  disabled_reason: string | null
  /** since when what comes next could not be delivered */
  failing_since: string | null
  /** since when the oldest delivery waits */
  waiting_since: string | null
}

export interface WebhookDelivery {
  /** the header webhook-id of the delivery */
  delivery_id: string
  event: 'records.accepted' | 'request.completed' | 'rejections.digest' | 'waiting.expired' | 'person.erased' | 'test'
  state: 'pending' | 'delivered' | 'failed'
  /** how many events or records are in it */
  records: number | null
  created_at: string
  /** when it was delivered, or given up */
  ended_at: string | null
  attempts: number
  /** the last attempts, the newest last */
  tried: ({
    at: string
    /** how long it took */
    ms: number
    /** null where nothing was answered */
    status: number | null
    /** the first 2 KB of it */
    answer?: string
    /** why nothing was answered */
    problem?: string
  })[]
}

export interface MartReference {
  /** the view's name in ClickHouse's database `weir`, and in the address of its rows */
  name: string
  /** the question that it answers */
  about: string
  /** what one row stands for */
  grain: string
  columns: ColumnReference[]
  /** where it is asked with values: an example of each; null for all others */
  asked: Record<string, string> | null
}

export interface ColumnReference {
  name: string
  /** in ClickHouse */
  type: string
  /** what it means */
  about: string
}

export interface MartRows {
  mart: string
  /** those of the rows, in their order */
  columns: ColumnReference[]
  /** each with its values by the names of the columns; money is text, so that it stays exact */
  rows: (Record<string, unknown>)[]
  /** the query that answers the same rows in ClickHouse */
  sql: string
  /** whether there are more rows than `limit` */
  truncated: boolean
}

export interface SqlRows {
  /** those of the rows, in their order */
  columns: {
    name: string
    /** in ClickHouse */
    type: string
  }[]
  /** each a list of values; decimals and whole numbers of 64 bits or more are text, so that they stay exact */
  rows: (unknown[])[]
  /** whether there are more rows than these: than `limit`, or than 8 MB of them */
  truncated: boolean
  /** how many rows ClickHouse read for it; null where it does not tell */
  rows_read: number | null
  /** how many bytes these were; null where it does not tell */
  bytes_read: number | null
  /** how long it took */
  seconds: number
}

export interface PersonExport {
  person: {
    /** as it was asked for */
    id: string
    /** records that name one of these are here */
    customer_ids: string[]
    /** and those that name one of these */
    user_ids: string[]
    /** user_ids that several customers share: what is kept under them cannot be said to be about one of these */
    not_followed: {
      user_id: string
      /** how many have it, or had it */
      customers: number
    }[]
  }
  exported_at: string
  /** every version that is kept of every record that names the person */
  records: KeptRecord[]
  /** refused records that name the person, the oldest first */
  refused: KeptRefusal[]
  /** records that name the person, and wait for what they refer to */
  waiting: KeptWait[]
  /** what was made of these records */
  derived: DerivedFact[]
  /** where copies may be that an export cannot read */
  elsewhere: {
    where: string
    what: string
    /** for how long */
    kept: string
  }[]
}

export interface KeptRecord {
  type: string
  id: string
  /** grows with each version of a record */
  version: number
  /** whether this is the newest version; others are former ones */
  is_current: boolean
  accepted_at: string
  /** whether this version deletes the record */
  is_deleted: boolean
  /** every field of the type */
  record: Record<string, unknown>
}

export interface KeptRefusal {
  type: string
  /** what was given as its id */
  id: string | null
  request_id: string
  rejected_at: string
  problems: Problem[]
  /** as it was given; where `truncated`, the text of its beginning */
  record: unknown
  /** whether the record was too large to be kept whole */
  truncated: boolean
}

export interface KeptWait {
  type: string
  id: string
  request_id: string
  since: string
  until: string
  /** what it waits for */
  for: Reference[]
  /** the fields that it has */
  record: Record<string, unknown>
}

export interface DerivedFact {
  /** the mart, or `own_segments`: the segments of your own that the customer is or was in */
  from: string
  /** by the names of the columns; money is text, so that it stays exact */
  values: Record<string, unknown>
}

export interface Erasure {
  erasure_id: string
  mode: 'erase' | 'pseudonymise'
  /** what becomes of later uploads that name the person */
  afterwards: 'refuse' | 'new'
  /** whether it only counts */
  dry_run: boolean
  /** `failed`: it did not end within 24 hours, see `problem`. It is tried on every hour and becomes `done` once that is put right; asked for again, it is begun at once. A dry run is not tried on */
  status: 'running' | 'done' | 'failed'
  /** what it does now, or did last */
  step: string
  asked_at: string
  ended_at: string | null
  /** what there was of the person before anything was removed */
  found: {
    /** a topic, or a table */
    where: string
    /** messages or rows that name the person */
    count: number
  }[] | null
  /** why it does not go on */
  problem: string | null
}

export interface ErasureWithProof {
  erasure_id: string
  mode: 'erase' | 'pseudonymise'
  /** what becomes of later uploads that name the person */
  afterwards: 'refuse' | 'new'
  /** whether it only counts */
  dry_run: boolean
  /** `failed`: it did not end within 24 hours, see `problem`. It is tried on every hour and becomes `done` once that is put right; asked for again, it is begun at once. A dry run is not tried on */
  status: 'running' | 'done' | 'failed'
  /** what it does now, or did last */
  step: string
  asked_at: string
  ended_at: string | null
  /** what there was of the person before anything was removed */
  found: {
    /** a topic, or a table */
    where: string
    /** messages or rows that name the person */
    count: number
  }[] | null
  /** why it does not go on */
  problem: string | null
  /** null until it is done, and after a dry run, which removes nothing */
  proof: {
    /** what was read when it was done, and what was left: JSON, sign by sign as it was signed */
    report: string
    /** of the bytes of `report`: Ed25519, in Base64 */
    signature: string
    /** what checks the signature: PEM */
    public_key: string
  } | null
}

export interface SavedQuery {
  /** what people call it */
  name: string
  query: string
  /** what it answers */
  about: string | null
  /** grows by one each time that it is saved */
  version: number
  saved_at: string
  /** the name of the key that saved it last, or the id of a key without a name */
  saved_by: string
}

export interface ListedRequest {
  request_id: string
  type: string
  /** where nothing of it is decided yet */
  submitted_at?: string
  /** when its first batch was */
  decided_at?: string
  status: 'accepted' | 'partial' | 'refused' | 'pending' | 'waiting'
  /** in all; while it is pending, of the batches that are decided, where no more is known */
  records: number
  /** accepted */
  accepted: number
  /** refused */
  refused: number
  /** waiting for what they refer to */
  waiting: number
}

export interface Found {
  kind: 'record' | 'request' | 'batch' | 'key'
  id: string
  /** of a record, and of the records in a request or a batch */
  type?: string
  /** of a batch: the request that it came in */
  request_id?: string
  /** of a key: its organisation */
  org?: string
}

export interface Overview {
  parts: {
    name: string
    ok: boolean
    words: string
  }[]
  freshness: ({
    type: string
    last_accepted_at: string | null
  })[]
  last_refusals: Rejection[] | null
  /** records that wait at this moment; 100000 where there are that many or more */
  waiting: number
  /** for operators: how long the oldest batch of each type has been undecided */
  lag?: {
    type: string
    seconds: number
  }[]
}

export interface LiveHistory {
  /** how long the time is that each number is about */
  bucket_seconds: number
  /** when the first of these times began */
  from: string
  accepted: number[]
  refused: number[]
  waiting: number[]
  interactions: number[]
}

export interface LiveRates {
  /** when the time began that the numbers are about */
  at: string
  accepted: number
  refused: number
  waiting: number
  interactions: number
}

export interface TopicEvent {
  partition: number
  offset: number
  at: string
  key: string | null
  /** as the topic's schema says */
  value: Record<string, unknown>
}

export interface Journey {
  type: string
  id: string
  steps: JourneyStep[]
  refers_to: {
    field: string
    type: string
    id: string
    exists: boolean
  }[]
  referred_by: {
    type: string
    /** of them */
    count: number
    sample: string[]
  }[]
}

export interface JourneyStep {
  at: string
  kind: 'received' | 'waited' | 'accepted' | 'refused' | 'published' | 'stored' | 'changed' | 'deleted' | 'superseded' | 'cancelled' | 'expired'
  words: string
  request_id?: string
  batch_id?: string
  /** the API key that it was sent with; its id, not its secret */
  key_id?: string
  problems?: Problem[]
  topic?: string
  partition?: number
  offset?: number
  version?: number
  /** as it is in ClickHouse */
  row?: Record<string, unknown>
  changes?: {
    field: string
    before: unknown
    after: unknown
  }[]
}

export interface Me {
  /** the organisation */
  org_id: string
  key_id: string | null
  /** null: all of them */
  scopes: string[] | null
  is_operator: boolean
}

export interface TypeReference {
  type: string
  /** the field that identifies a record */
  id: string
  about: string
  /** how many records one request may carry */
  limit: number
  fields: FieldReference[]
  references: {
    field: string
    to: string
  }[]
  /** a record that is taken */
  example: Record<string, unknown>
  snippets: {
    curl: string
    typescript: string
    python: string
    csv: string
  }
}

export interface FieldReference {
  name: string
  /** what kind of value it holds */
  kind: string
  required: boolean
  about: string
  max_length?: number
  choices?: string[]
  /** the type of the record that must exist */
  to?: string
  /** the field that says of which type that record is */
  by?: string
  kinds?: Record<string, string>
  above?: number
  min?: number
  max?: number
  /** the version that it came with, null where it is in no release yet; left out where every release has had it */
  since?: string | null
  /** `pseudonym`: it names a person. `personal`: it says something of the person whom the record names */
  of_person?: 'personal' | 'pseudonym'
}

export interface TopicReference {
  name: string
  /** null where it holds records of every type */
  type: string | null
  /** what the key of a message is made of */
  key: string
  about: string
  /** how long events are kept */
  retention: string
  partitions: number
  /** Kafka's word for what happens to old events */
  cleanup: string
  /** what holds for order and duplicates */
  promises: string[]
  /** the Avro schema of the values */
  schema: Record<string, unknown>
  snippets: {
    typescript: string
    python: string
    java: string
  }
}

export interface KeyListed {
  key_id: string
  name: string | null
  org: string
  /** null: all of them, as of a key that was issued without any */
  scopes: string[] | null
  is_operator: boolean
  state: 'active' | 'expired' | 'revoked'
  created_at: string
  /** null where it was made before this was kept */
  created_by: {
    /** `command`: at the server, by `weir` */
    kind: 'key' | 'operator' | 'command'
    /** null for the command, and of an operator's key for all but operators */
    key_id: string | null
    /** the name that the key has now */
    name: string | null
  } | null
  expires_at: string | null
  revoked_at: string | null
  revoked_by: {
    /** `command`: at the server, by `weir` */
    kind: 'key' | 'operator' | 'command'
    /** null for the command, and of an operator's key for all but operators */
    key_id: string | null
    /** the name that the key has now */
    name: string | null
  } | null
  last_used_at: string | null
}

export interface KeyMade {
  key_id: string
  name: string | null
  /** the text of the key; only its hash is kept */
  key: string
  org: string
  /** null: all of them, as of a key that was issued without any */
  scopes: string[] | null
  expires_at: string | null
  replaces?: {
    key_id: string
    expires_at: string
  }
}

export interface Audited {
  at: string
  /** the organisation that it concerns; `*`: every one */
  org: string
  action: 'key_issued' | 'key_renamed' | 'key_rotated' | 'key_revoked' | 'limits_set' | 'retry_ordered' | 'records_mended' | 'waiting_cancelled' | 'segment_set' | 'segment_dropped' | 'webhook_created' | 'webhook_changed' | 'webhook_deleted' | 'webhook_secret_rotated' | 'webhook_disabled' | 'person_exported' | 'erasure_asked' | 'erasure_ended' | 'retention_set' | 'retention_dropped'
  /** the id of the key, of the order, of the webhook or of the person, the organisation, the type of the records, or the name of the segment */
  subject: string
  by: Actor
  request_id: string | null
  /** a few words and numbers more; never a secret */
  details: Record<string, unknown>
  /** a hash of this and of the one before it, in hexadecimal digits */
  chain: string
  /** whether the id of an erased person was taken out of it */
  redacted: boolean
}

export interface Actor {
  /** `command`: at the server, by `weir` */
  kind: 'key' | 'operator' | 'command'
  /** null for the command, and of an operator's key for all but operators */
  key_id: string | null
  /** the name that the key has now */
  name: string | null
}

export interface OrganisationListed {
  org: string
  created_at: string
  active_keys: number
  /** null: the default; 0: no limit */
  requests_per_second: number | null
  /** null: the default; 0: no limit */
  records_per_second: number | null
}

export interface OrganisationFigures {
  org: string
  created_at: string
  active_keys: number
  /** null: the default; 0: no limit */
  requests_per_second: number | null
  /** null: the default; 0: no limit */
  records_per_second: number | null
  accepted: number
  refused: number
  /** records that wait now */
  waiting: number
  /** since when the oldest of its records waits */
  oldest_wait: string | null
  /** requests answered 429 */
  limited: number
  /** how long its oldest batch has been undecided */
  lag_seconds: number
}

export interface GroupState {
  group: string
  /** as Kafka says: Stable, Empty, … */
  state: string
  members: number
  /** messages that it has not read yet */
  lag: number
  topics: {
    topic: string
    lag: number
  }[]
}

export interface Health {
  status: 'ok'
  /** of Weir, like 0.1.0 */
  version?: string
  /** that it was built from, or unknown */
  commit?: string
}

export interface Readiness {
  status: 'ready' | 'not_ready'
  parts?: Record<string, {
    ok: boolean
    problem?: string
  }>
}

/** What each endpoint is asked, and what it answers when all is well. Uploads and interactions are in record-types.ts. */
export interface Endpoints {
  'GET /v1/requests/{request_id}': {
    answer: UploadAnswer
  }
  'GET /v1/rejections': {
    query: {
      /** only records of this type */
      type?: string | undefined
      /** only those with such a problem */
      code?: 'missing_field' | 'unknown_field' | 'wrong_type' | 'bad_format' | 'out_of_range' | 'not_one_of' | 'unknown_reference' | 'too_many_waiting' | 'overtaken' | 'idempotency_conflict' | 'undecodable' | 'unreadable' | 'person_erased' | undefined
      /** only those with a problem in this field */
      field?: string | undefined
      /** refused since then */
      since?: string | number | Date | undefined
      /** refused before then */
      until?: string | number | Date | undefined
      /** only those of this request, or of this batch */
      request_id?: string | undefined
      /** only those in this state, a moment behind. Each is `open`, `retried` or `resolved`, which is `accepted_since` or `overtaken`: nothing is left to do about it */
      state?: 'open' | 'retried' | 'resolved' | 'accepted_since' | 'overtaken' | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
      /** how many at most */
      limit?: number | undefined
    }
    answer: {
      rejections: Rejection[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'GET /v1/rejections/summary': {
    query: {
      /** only records of this type */
      type?: string | undefined
      /** only those with such a problem */
      code?: 'missing_field' | 'unknown_field' | 'wrong_type' | 'bad_format' | 'out_of_range' | 'not_one_of' | 'unknown_reference' | 'too_many_waiting' | 'overtaken' | 'idempotency_conflict' | 'undecodable' | 'unreadable' | 'person_erased' | undefined
      /** only those with a problem in this field */
      field?: string | undefined
      /** refused since then */
      since?: string | number | Date | undefined
      /** refused before then */
      until?: string | number | Date | undefined
      /** only those of this request, or of this batch */
      request_id?: string | undefined
      /** only those in this state, a moment behind. Each is `open`, `retried` or `resolved`, which is `accepted_since` or `overtaken`: nothing is left to do about it */
      state?: 'open' | 'retried' | 'resolved' | 'accepted_since' | 'overtaken' | undefined
    }
    answer: {
      groups: RejectionGroup[]
      /** how many records the filter means in each state, whichever was asked for */
      states: {
        /** nothing has happened since; null where too many were submitted again to tell */
        open: number | null
        /** submitted again */
        retried: number | null
        /** accepted since, or overtaken */
        resolved: number | null
      }
      /** false where there are more than 500 groups: the others are not shown */
      complete: boolean
    }
  }
  'GET /v1/rejections/values': {
    query: {
      type: string
      /** only those with such a problem */
      code?: 'missing_field' | 'unknown_field' | 'wrong_type' | 'bad_format' | 'out_of_range' | 'not_one_of' | 'unknown_reference' | 'too_many_waiting' | 'overtaken' | 'idempotency_conflict' | 'undecodable' | 'unreadable' | 'person_erased' | undefined
      /** only those with a problem in this field */
      field: string
      /** refused since then */
      since?: string | number | Date | undefined
      /** refused before then */
      until?: string | number | Date | undefined
      /** only those of this request, or of this batch */
      request_id?: string | undefined
      /** only those in this state, a moment behind. Each is `open`, `retried` or `resolved`, which is `accepted_since` or `overtaken`: nothing is left to do about it */
      state?: 'open' | 'retried' | 'resolved' | 'accepted_since' | 'overtaken' | undefined
    }
    answer: {
      values: {
        /** as it was given; null where the field is not there */
        value: unknown
        /** records with this value */
        count: number
      }[]
      /** false where there are more than 100 values: the others are not shown */
      complete: boolean
    }
  }
  'POST /v1/rejections/retry': {
    body: {
      /** which rejections are meant: those to which all of this applies; at least one has to be given */
      filter: {
        /** only records of this type */
        type?: string | undefined
        /** only those with such a problem */
        code?: 'missing_field' | 'unknown_field' | 'wrong_type' | 'bad_format' | 'out_of_range' | 'not_one_of' | 'unknown_reference' | 'too_many_waiting' | 'overtaken' | 'idempotency_conflict' | 'undecodable' | 'unreadable' | 'person_erased' | undefined
        /** only those with a problem in this field */
        field?: string | undefined
        /** refused since then */
        since?: string | number | Date | undefined
        /** refused before then */
        until?: string | number | Date | undefined
        /** only those of this request, or of this batch */
        request_id?: string | undefined
      }
      /** only say what would be submitted */
      dry_run?: boolean | undefined
      /** how many at most */
      limit?: number | undefined
      /** `next_cursor` of the call before: go on behind what that one looked at */
      cursor?: string | undefined
      /** one value changed in all of them before they are submitted; needs a `type` in the filter */
      change?: {
        /** the field; not the id */
        field: string
        /** only records in which it has this value (null: also where it is not there); left out: whatever it has */
        from?: unknown | undefined
        /** its new value; left out: the field is left out of the record */
        to?: unknown | undefined
      } | undefined
    }
    answer: RetryPlan | RetryOrder
  }
  'GET /v1/rejections/retries/{request_id}': {
    answer: RetryOrder
  }
  'GET /v1/quality': {
    query: {
      /** the first day; by default 29 days before the last */
      from?: string | undefined
      /** the last day; by default today. At most 92 days in all */
      to?: string | undefined
    }
    answer: {
      from: string
      to: string
      days: QualityDay[]
    }
  }
  'GET /v1/waiting': {
    query: {
      /** only missing records of this type */
      type?: string | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
      /** how many at most */
      limit?: number | undefined
    }
    answer: {
      missing: AwaitedRecord[]
      /** how many of your records wait in all; one that waits for two is one */
      waiting: number
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'GET /v1/waiting/records': {
    query: {
      /** only records of this type */
      type?: string | undefined
      /** only the record with this id */
      id?: string | undefined
      /** with `missing_id`: only those that wait for this record */
      missing_type?: string | undefined
      /** with `missing_type`: only those that wait for this record */
      missing_id?: string | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
      /** how many at most */
      limit?: number | undefined
    }
    answer: {
      records: WaitingRecord[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'POST /v1/waiting/cancel': {
    body: {
      /** only records of this type */
      type?: string | undefined
      /** only the record with this id */
      id?: string | undefined
      /** with `missing_id`: only those that wait for this record */
      missing_type?: string | undefined
      /** with `missing_type`: only those that wait for this record */
      missing_id?: string | undefined
    }
    answer: {
      /** how many waited until now */
      cancelled: number
      /** how many of those that are meant still wait: more than one request cancels, or being decided */
      left: number
      /** false where some are left: the same request again goes on */
      complete: boolean
    }
  }
  'GET /v1/feeds/{type}': {
    query: {
      /** `beginning`: every record as it is now, then each change. `now`: what comes from now on. A time: what was accepted since then; of what the log no longer holds, every record that changed since then, as it is now. Or the `next` of an answer */
      after?: string | undefined
      /** how many at most */
      limit?: number | undefined
      /** how long to wait where there is nothing yet, from `0s` to `50s` */
      wait?: string | undefined
    }
    answer: FeedPage
  }
  'GET /v1/feeds': {
    query: {
      /** such as `shops,offers`, or `all` */
      types: string
      /** `beginning`: every record as it is now, then each change. `now`: what comes from now on. A time: what was accepted since then; of what the log no longer holds, every record that changed since then, as it is now. Or the `next` of an answer */
      after?: string | undefined
      /** how many at most */
      limit?: number | undefined
      /** how long to wait where there is nothing yet, from `0s` to `50s` */
      wait?: string | undefined
    }
    answer: FeedPage
  }
  'POST /v1/webhooks': {
    body: {
      /** where deliveries go: https, and a public address unless the operator allows others */
      url: string
      /** what it is told of */
      events: ('records.accepted' | 'request.completed' | 'rejections.digest' | 'waiting.expired' | 'person.erased')[]
    }
    answer: {
      webhook_id: string
      /** what deliveries are signed with; shown this once */
      secret: string
    }
  }
  'GET /v1/webhooks': {
    answer: {
      webhooks: Webhook[]
    }
  }
  'GET /v1/webhooks/{webhook_id}': {
    answer: Webhook
  }
  'PATCH /v1/webhooks/{webhook_id}': {
    body: {
      /** where deliveries go: https, and a public address unless the operator allows others */
      url?: string | undefined
      /** what it is told of */
      events?: ('records.accepted' | 'request.completed' | 'rejections.digest' | 'waiting.expired' | 'person.erased')[] | undefined
      enabled?: boolean | undefined
    }
    answer: Webhook
  }
  'DELETE /v1/webhooks/{webhook_id}': {
    answer: {
      webhook_id: string
    }
  }
  'POST /v1/webhooks/{webhook_id}/rotate': {
    body: {
      /** for how long the former secret signs, too */
      grace_seconds?: number | undefined
    }
    answer: {
      webhook_id: string
      /** what deliveries are signed with; shown this once */
      secret: string
      former_until: string
    }
  }
  'POST /v1/webhooks/{webhook_id}/test': {
    answer: {
      delivery_id: string
    }
  }
  'GET /v1/webhooks/{webhook_id}/deliveries': {
    query: {
      state?: 'pending' | 'delivered' | 'failed' | undefined
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      deliveries: WebhookDelivery[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'POST /v1/webhooks/{webhook_id}/replay': {
    body: {
      /** one of the delivery log */
      delivery_id?: string | undefined
      since?: string | number | Date | undefined
      until?: string | number | Date | undefined
    }
    answer: {
      /** how many */
      deliveries: number
    }
  }
  'GET /v1/marts': {
    answer: {
      marts: MartReference[]
    }
  }
  'GET /v1/marts/{mart}': {
    query: {
      /** the first day; for `sales_by_day`, `segment_sizes`, `recommendations`, `interactions_by_day`, `funnel`, `refusals_by_day` */
      from?: string | undefined
      /** the last day; for the same */
      to?: string | undefined
      /** only this 2-letter country code; for `sales_by_day`, `offers_used`, `shops_overview`, `customers_overview` */
      region?: string | undefined
      /** only this shop; for `sales_by_day`, `offers_used`, `shops_overview`, `funnel` */
      shop_id?: string | undefined
      /** the columns whose values are kept apart */
      by?: string | undefined
      /** the columns that are summed: numbers of things, and money */
      sum?: string | undefined
      /** the column to order by, with `-` before it for the largest first; otherwise by the first columns */
      order?: string | undefined
      /** for `segment_members` alone, which needs it; such as loyal */
      name?: string | undefined
      /** for `segment_members` alone, which needs it; such as 2026-01-31 12:00:00 */
      at?: string | undefined
      /** how many at most */
      limit?: number | undefined
    }
    answer: MartRows
  }
  'POST /v1/sql': {
    body: {
      /** one statement that reads */
      query: string
      /** how many at most */
      limit?: number | undefined
    }
    answer: SqlRows
  }
  'GET /v1/persons/{id}/export': {
    answer: PersonExport
  }
  'POST /v1/erasures': {
    body: {
      /** a customer_id, student_id or user_id */
      person_id: string
      mode: 'erase' | 'pseudonymise'
      /** whether it only counts */
      dry_run?: boolean | undefined
      /** what becomes of later uploads that name the person: they are refused (`refuse`, if nothing is said), or taken as records of somebody new */
      afterwards?: 'refuse' | 'new' | undefined
    }
    answer: Erasure
  }
  'GET /v1/erasures': {
    answer: {
      erasures: Erasure[]
    }
  }
  'GET /v1/erasures/{erasure_id}': {
    answer: ErasureWithProof
  }
  'GET /v1/queries': {
    answer: {
      queries: SavedQuery[]
    }
  }
  'PUT /v1/queries/{name}': {
    body: {
      /** at most 20000 characters */
      query: string
      /** what it answers */
      about?: string | null | undefined
      /** the one that is replaced */
      version?: number | undefined
    }
    answer: SavedQuery
  }
  'DELETE /v1/queries/{name}': {
    answer: {
      name: string
    }
  }
  'GET /v1/requests': {
    query: {
      /** only those that are so */
      status?: 'accepted' | 'partial' | 'refused' | 'pending' | 'waiting' | undefined
      /** only those of this type */
      type?: string | undefined
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      requests: ListedRequest[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'GET /v1/find': {
    query: {
      /** of whatever it is */
      id: string
    }
    answer: {
      found: Found[]
      complete: boolean
    }
  }
  'GET /v1/overview': {
    answer: Overview
  }
  'GET /v1/activity': {
    query: {
      /** how long the time is */
      span: '1h' | '6h' | '24h' | '7d' | '30d' | '90d'
    }
    answer: LiveHistory
  }
  'GET /v1/live': {
    answer: string
  }
  'GET /v1/topics/{topic}/events': {
    query: {
      /** how many at most */
      limit?: number | undefined
    }
    answer: {
      events: TopicEvent[]
      next: null
    }
  }
  'GET /v1/topics/{topic}/events/live': {
    answer: string
  }
  'GET /v1/data/{type}/{id}/journey': {
    answer: Journey
  }
  'GET /v1/me': {
    answer: Me
  }
  'GET /v1/types': {
    answer: {
      types: TypeReference[]
    }
  }
  'GET /v1/topics': {
    answer: {
      topics: TopicReference[]
    }
  }
  'GET /v1/keys': {
    query: {
      /** only those that may be used, or only the others */
      state?: 'active' | 'ended' | undefined
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      keys: KeyListed[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'POST /v1/keys': {
    body: {
      /** what people call it */
      name?: string | null | undefined
      /** null: `all`, everything but `keys:manage` */
      scopes?: string[] | null | undefined
      expires_in_seconds?: number | null | undefined
    }
    answer: KeyMade
  }
  'PATCH /v1/keys/{key_id}': {
    body: {
      /** null: none */
      name: string | null
    }
    answer: {
      key_id: string
      org: string
      name: string | null
    }
  }
  'POST /v1/keys/{key_id}/rotate': {
    body: {
      grace_seconds?: number | null | undefined
      expires_in_seconds?: number | null | undefined
    }
    answer: KeyMade
  }
  'POST /v1/keys/{key_id}/revoke': {
    body: Record<string, never>
    answer: {
      key_id: string
      org: string
      revoked_at: string
    }
  }
  'GET /v1/audit': {
    query: {
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      done: Audited[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'GET /v1/audit/verification': {
    query: {
      /** a head that you noted before, and that has to be in the chain */
      head?: string | undefined
    }
    answer: {
      /** whether nothing in it was changed, removed or put in */
      holds: boolean
      entries: number
      /** those that the id of an erased person was taken out of */
      redacted: number
      /** when the first entry is from that is still kept; null where there is none */
      from: string | null
      /** the chain of the newest entry: it stands for all of them */
      head: string | null
      /** null where it holds */
      problem: {
        /** changed: the entry is not what it was; removed: entries before it are missing; forged: it was put in later; head_missing: no entry has the head that was asked for */
        what: 'changed' | 'removed' | 'forged' | 'head_missing'
        /** when the entry is from where the chain first breaks */
        at: string | null
        /** the chain of that entry */
        chain: string | null
      } | null
    }
  }
  'GET /v1/operator/organisations': {
    query: {
      /** only those whose id begins so */
      prefix?: string | undefined
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      organisations: OrganisationListed[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'PUT /v1/operator/organisations/{org}/limits': {
    body: {
      /** null: the default; 0: no limit */
      requests_per_second?: number | null | undefined
      /** null: the default; 0: no limit */
      records_per_second?: number | null | undefined
    }
    answer: {
      org: string
      /** null: the default; 0: no limit */
      requests_per_second: number | null
      /** null: the default; 0: no limit */
      records_per_second: number | null
    }
  }
  'GET /v1/operator/figures': {
    query: {
      /** how many hours back */
      hours?: number | undefined
      /** only those whose id begins so */
      prefix?: string | undefined
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      /** from when on what was sent is counted */
      since: string
      all: {
        organisations: number
        accepted: number
        refused: number
        /** records that wait now */
        waiting: number
      }
      organisations: OrganisationFigures[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'GET /v1/operator/system': {
    answer: {
      parts: ({
        name: string
        ok: boolean
        problem: string | null
      })[]
      storage: ({
        part: string
        /** of Weir; null where it cannot be known */
        used_bytes: number | null
        /** on its disks; null where it cannot be known */
        free_bytes: number | null
        /** why something is not known */
        problem: string | null
      })[]
      /** consumer groups that read Weir's topics, as far as Kafka shows them to the edge; null where it does not answer */
      groups: GroupState[] | null
    }
  }
  'GET /v1/operator/keys': {
    query: {
      /** only those of this organisation */
      org?: string | undefined
      /** only those that may be used, or only the others */
      state?: 'active' | 'ended' | undefined
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      keys: KeyListed[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'POST /v1/operator/keys': {
    body: {
      org: string
      /** what people call it */
      name?: string | null | undefined
      /** null: `all`, everything but `keys:manage` */
      scopes?: string[] | null | undefined
      expires_in_seconds?: number | null | undefined
    }
    answer: KeyMade
  }
  'PATCH /v1/operator/keys/{key_id}': {
    body: {
      /** null: none */
      name: string | null
    }
    answer: {
      key_id: string
      org: string
      name: string | null
    }
  }
  'POST /v1/operator/keys/{key_id}/rotate': {
    body: {
      grace_seconds?: number | null | undefined
      expires_in_seconds?: number | null | undefined
    }
    answer: KeyMade
  }
  'POST /v1/operator/keys/{key_id}/revoke': {
    body: Record<string, never>
    answer: {
      key_id: string
      org: string
      revoked_at: string
    }
  }
  'GET /v1/operator/audit': {
    query: {
      /** only what concerns this organisation; `*`: what concerns every organisation, as a rule for how long records are kept */
      org?: string | undefined
      /** how many at most */
      limit?: number | undefined
      /** next_cursor of the page before */
      cursor?: string | undefined
    }
    answer: {
      done: Audited[]
      /** null on the last page */
      next_cursor: string | null
    }
  }
  'GET /v1/operator/audit/verification': {
    query: {
      /** the organisation; `*`: what concerns every organisation, as a rule for how long records are kept */
      org: string
      /** a head that you noted before, and that has to be in the chain */
      head?: string | undefined
    }
    answer: {
      /** whether nothing in it was changed, removed or put in */
      holds: boolean
      entries: number
      /** those that the id of an erased person was taken out of */
      redacted: number
      /** when the first entry is from that is still kept; null where there is none */
      from: string | null
      /** the chain of the newest entry: it stands for all of them */
      head: string | null
      /** null where it holds */
      problem: {
        /** changed: the entry is not what it was; removed: entries before it are missing; forged: it was put in later; head_missing: no entry has the head that was asked for */
        what: 'changed' | 'removed' | 'forged' | 'head_missing'
        /** when the entry is from where the chain first breaks */
        at: string | null
        /** the chain of that entry */
        chain: string | null
      } | null
    }
  }
  'GET /healthz': {
    answer: Health
  }
  'GET /readyz': {
    query: {
      /** only the parts that uploads need */
      for?: 'uploads' | undefined
    }
    answer: Readiness
  }
  'GET /metrics': {
    answer: string
  }
}

/** What an endpoint answers. */
export type AnswerTo<Name extends keyof Endpoints> = Endpoints[Name]['answer']
