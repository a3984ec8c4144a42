import type { RecordProblem } from '../../typescript/src/index.js'

// What the edge answers, as far as the console shows it. Documented at /docs.

/** Who is signed in. `scopes` is null for a key that may do everything. */
export type Myself = { org_id: string; key_id: string; scopes: string[] | null; is_operator: boolean }

export type FieldShown = {
  name: string
  kind: string
  required: boolean
  about: string
  max_length?: number
  choices?: string[]
  to?: string
  by?: string
  kinds?: Record<string, string>
  above?: number
  min?: number
  max?: number
}

export type TypeShown = {
  type: string
  id: string
  about: string
  limit: number
  fields: FieldShown[]
  references: { field: string; to: string }[]
  example: Record<string, unknown>
  snippets: Record<string, string>
}

/** Whether each record of the type is sent in a request of its own. */
export const comesAlone = ({ limit }: TypeShown): boolean => limit === 1

export type TopicShown = {
  name: string
  type: string | null
  key: string
  about: string
  retention: string
  partitions: number
  cleanup: string
  promises: string[]
  schema: unknown
  snippets: Record<string, string>
}

export type TopicEventShown = { partition: number; offset: string; at: string; key: string | null; value: unknown }

export type OverviewShown = {
  parts: { name: string; ok: boolean; words: string }[]
  freshness: { type: string; last_accepted_at: string | null }[]
  /** Null where the key may not read rejections. */
  last_refusals: RefusalShown[] | null
  /** How long the oldest undecided batch of each type has waited; for operators only. */
  lag?: { type: string; seconds: number }[]
}

/** A refused record, as `/v1/rejections` lists it. */
export type RefusalShown = {
  rejection_id: string
  type: string
  id: string | null
  index: number
  request_id: string
  batch_id: string
  rejected_at: string
  record: unknown
  truncated: boolean
  problems: RecordProblem[]
  state: 'open' | 'retried' | 'accepted_since' | 'overtaken'
  retry?: { outcome: string; request_id: string | null; retried_at: string; retry_request_id: string | null }
}

export type RefusalGroupShown = {
  type: string
  code: string
  field: string | null
  count: number
  first_seen: string
  last_seen: string
  sample: { id: string | null; message: string | null; record: unknown; truncated: boolean } | null
}

export type RequestLine = {
  request_id: string
  type: string
  submitted_at?: string
  decided_at?: string
  status: string
  records: number
  accepted: number
  refused: number
  waiting: number
}

export type WaitsFor = { field: string; type: string; id: string }

export type BatchShown = {
  batch: number
  status: number
  data: {
    status: string
    message: string
    batch_id: string | null
    error: string | null
    errors?: { index: number; line?: number; id?: string | null; problems: RecordProblem[] }[]
    waiting?: { index: number; id: string | null; for: WaitsFor[]; until: string }[]
    waited?: { index: number; id: string | null; state: string; at: string }[]
  }
}

export type RequestShown = { request_id: string; type: string; batches: BatchShown[] }

export type MissingShown = {
  type: string
  id: string
  waiting: number
  oldest: string
  first_until: string
  sample: { type: string; id: string | null; field: string | null; request_id: string; index: number; until: string }[]
}

export type StepShown = {
  at: string
  kind: string
  words: string
  request_id?: string
  batch_id?: string
  key_id?: string
  problems?: RecordProblem[]
  topic?: string
  partition?: number
  offset?: string | number
  version?: string | number
  row?: Record<string, unknown>
  changes?: { field: string; before: unknown; after: unknown }[]
}

export type JourneyShown = {
  type: string
  id: string
  steps: StepShown[]
  refers_to: { field: string; type: string; id: string; exists: boolean }[]
  referred_by: { type: string; count: number; sample: string[] }[]
}

export type QualityDayShown = {
  type: string
  day: string
  received: number
  accepted: number
  refused: number
  waiting?: number
  top_codes: { code: string; count: number }[]
  last_accepted_at: string | null
}

export type OrganisationShown = {
  org: string
  created_at: string
  active_keys: number
  requests_per_second: number | null
  records_per_second: number | null
}

export type KeyShown = {
  key_id: string
  org: string
  scopes: string[] | null
  is_operator: boolean
  state: 'active' | 'expired' | 'revoked'
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  last_used_at: string | null
}
