import type { Problem, VersionConflict } from './endpoints.js'

/** What is wrong with a record. `field` is null where it is the record as a whole. The codes are stable. */
export type RecordProblem = Problem

/**
 * - `usage`: what was asked for cannot be done; the same again fails again
 * - `key`: the key is not valid, or may not do this
 * - `conflict`: the Idempotency-Key was used with another body before; or, with `conflicts`, `ifVersion` is not what is current
 * - `network`: no answer came
 * - `server`: the service could not do it now; the same again later may succeed
 */
export type WeirErrorKind = 'usage' | 'key' | 'conflict' | 'network' | 'server'

/** How far an upload came. */
export type UploadProgress = {
  /** Records that were taken from the iterable. */
  read: number
  accepted: number
  refused: number
  waiting: number
  /** That many records from the first one on are decided: to go on after an error, begin with the next one. */
  settled: number
  requests: number
}

/** Why something could not be done. `message` says what happened, `remedy` what to do about it. */
export class WeirError extends Error {
  override readonly name = 'WeirError'
  readonly kind: WeirErrorKind
  readonly remedy: string
  /** The HTTP status of the last answer, if one came. */
  readonly status: number | undefined
  /** By this id the service knows the request. */
  readonly requestId: string | undefined
  /** The same records sent again with this key are not taken twice. */
  readonly idempotencyKey: string | undefined
  /** What is wrong with the record, where a request carries only one. */
  readonly problems: readonly RecordProblem[]
  /** Records that would replace something else than `ifVersion` says: what was sent, and what is there. */
  readonly conflicts: readonly VersionConflict[]
  /** Where a feed can go on after a cursor whose next events are no longer kept: to be given as `after`. */
  readonly restart: string | undefined
  /** How far an upload came before it stopped. */
  progress: UploadProgress | undefined

  constructor(
    kind: WeirErrorKind,
    message: string,
    remedy: string,
    more: Partial<Pick<WeirError, 'status' | 'requestId' | 'idempotencyKey' | 'problems' | 'conflicts' | 'restart'>> & {
      cause?: unknown
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause })
    this.kind = kind
    this.remedy = remedy
    this.status = more.status
    this.requestId = more.requestId
    this.idempotencyKey = more.idempotencyKey
    this.problems = more.problems ?? []
    this.conflicts = more.conflicts ?? []
    this.restart = more.restart
  }
}

/** The error for an answer that is none of the good ones. */
export const errorOfAnswer = (status: number, json: unknown, idempotencyKey: string | undefined): WeirError => {
  const said = (json ?? {}) as {
    message?: unknown
    request_id?: unknown
    problems?: RecordProblem[]
    conflicts?: VersionConflict[]
    restart?: unknown
  }
  const message = typeof said.message === 'string' ? said.message : `the answer was ${status} without a message`
  const requestId = typeof said.request_id === 'string' ? said.request_id : undefined
  const problems = Array.isArray(said.problems) ? said.problems : []
  const conflicts = Array.isArray(said.conflicts) ? said.conflicts : []
  const restart = typeof said.restart === 'string' ? said.restart : undefined
  const { kind, remedy } = conflicts.length > 0 ? staleVersion : meaningOf(status)
  return new WeirError(kind, message, remedy, { status, requestId, idempotencyKey, problems, conflicts, restart })
}

const staleVersion = {
  kind: 'conflict',
  remedy: 'compare `sent` with `current` in `conflicts`; to overwrite it, give the version of `current` as ifVersion',
} as const

const meaningOf = (status: number): { kind: WeirErrorKind; remedy: string } => {
  if (status === 401)
    return {
      kind: 'key',
      remedy: 'check the key: it may be mistyped, expired or revoked; the operator can issue a new one',
    }
  if (status === 403) return { kind: 'key', remedy: 'ask the operator for a key with the scope that is missing' }
  if (status === 404)
    return { kind: 'usage', remedy: 'check the url given to createWeir, and the id that was asked for' }
  if (status === 409)
    return { kind: 'conflict', remedy: 'send the first body again with this Idempotency-Key, or use a new key' }
  if (status === 410) return { kind: 'usage', remedy: 'go on with `restart` as `after`' }
  if (status === 413) return { kind: 'usage', remedy: 'send fewer records in one request' }
  if (status === 0 || (status >= 300 && status < 400))
    return { kind: 'usage', remedy: 'the address redirects; give createWeir the url that it redirects to' }
  if (isRetriable(status) || status >= 500)
    return { kind: 'server', remedy: 'try again later; with the same Idempotency-Key nothing is taken twice' }
  return { kind: 'usage', remedy: 'mend what the message names; the same again would fail again' }
}

/** The answers after which the same request may succeed in a moment. */
export const isRetriable = (status: number): boolean => [408, 429, 500, 502, 503, 504].includes(status)
