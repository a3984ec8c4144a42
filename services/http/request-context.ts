import type { FastifyRequest } from 'fastify'
import type { TraceSpan } from '#platform/tracing/tracing.js'
import { type RequestError, requestError } from './request-error.js'

/** Who is calling, as their key says. */
export type Caller = {
  orgId: string
  /** null where no key was needed. */
  keyId: string | null
  /** null: all of them */
  scopes: readonly string[] | null
  /** The limits that the organisation has of its own. */
  rates?: OrgRates | undefined
  /** Whether the key is an operator's, who may look at every organisation. */
  isOperator?: boolean
}

/** How much each key of an organisation may send in a second; null: as much as the edge allows by default. */
export type OrgRates = { requests: number | null; records: number | null }

/** What the hooks before a handler found out about a request, and what its log line will say. */
declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    idempotencyKey: string | null
    recordCount: number | null
    failure: Error | null
    /** Of the trace that is recorded of it, if one is. */
    span: TraceSpan | null
  }
  interface FastifyContextConfig {
    /** A body that this route takes, for those who sent something else. */
    form?: string
    /** What to do about a body that is larger than the route takes. */
    tooLarge?: string
    /** Whether the body is read as it comes, and may be of any length. */
    isStreamed?: boolean
    /** The type of the records that are sent to it. */
    takesIn?: string
    /** What a key must allow. */
    scope?: string
    /** Whether the key must be an operator's. */
    isForOperators?: boolean
    /** The organisation that a request without a key belongs to; without this the route needs a key. */
    openOrg?: string | undefined
  }
}

export const contextFields = ['caller', 'idempotencyKey', 'recordCount', 'failure', 'span'] as const

/** Whether the caller wants the answer as CSV, where there is a choice. */
export const acceptsCsv = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  /\btext\/csv\b/i.test(headers.accept ?? '')

/** For handlers behind `authenticate`. */
export const callerOf = (request: FastifyRequest): Caller => {
  if (!request.caller) throw new Error(`${request.routeOptions.url} is not behind a key`)
  return request.caller
}

/** A body as JSON, with the SHA-256 of its text; or why there is none. */
export type JsonBody = { json?: unknown; sha256: Buffer } | { error: RequestError }

/** What the app's parser made of the body. Without a body, Fastify does not call the parser. */
export const bodyOf = <Read extends JsonBody = JsonBody>(request: FastifyRequest): Read | { error: RequestError } =>
  (request.body as Read | undefined) ?? empty

const empty = { error: requestError(400, 'the body is empty') }
