import type { FastifyRequest } from 'fastify'
import type { OrgRates } from '../limits/rates.js'

/** What the hooks before a handler found out about a request, and what its log line will say. */
declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
    idempotencyKey: string | null
    recordCount: number | null
    failure: Error | null
  }
  interface FastifyContextConfig {
    /** What a key must allow. */
    scope?: string
    /** The organisation that the route belongs to when no key is shown. */
    openOrg?: string | undefined
  }
}

export const contextFields = ['caller', 'idempotencyKey', 'recordCount', 'failure'] as const

/** For handlers behind `authenticate`. */
export const callerOf = (request: FastifyRequest): Caller => {
  if (!request.caller) throw new Error(`${request.routeOptions.url} is not behind a key`)
  return request.caller
}

/** Who is calling, as their key says. */
export type Caller = {
  orgId: string
  /** null where no key was needed. */
  keyId: string | null
  /** null: all of them */
  scopes: readonly string[] | null
  /** Its organisation's own; where there are none, everybody's. */
  rates?: OrgRates | undefined
}
