import type { Call, CallOptions } from './call.js'
import type { AnswerTo, Audited, Endpoints, KeyListed, KeyMade } from './endpoints.js'
import { eachOf, type ListOptions, queryOf } from './pages.js'
import { newKey } from './send.js'

/** A key of your organisation, without its secret. */
export type OwnKey = KeyListed

/** A key that was just made: `key` is its text, which is never shown again. */
export type NewOwnKey = KeyMade

/** Something that was done with your organisation's keys, limits or records. */
export type AuditEntry = Audited

/** Whether what was done still stands as it was written. */
export type AuditVerification = AnswerTo<'GET /v1/audit/verification'>

/** For a key with the scope `keys:manage`: the keys of its organisation. */
export type Keys = {
  /** By when they were made, the oldest first; with a state only those that may be used (`active`), or only the others (`ended`). */
  list: (
    filter?: { state?: 'active' | 'ended' | undefined },
    options?: ListOptions,
  ) => AsyncGenerator<OwnKey, void, undefined>
  /** Makes a key, with no scope that yours lacks and no longer life than yours. */
  issue: (wanted?: Endpoints['POST /v1/keys']['body'], options?: KeyOptions) => Promise<NewOwnKey>
  rename: (keyId: string, name: string | null, options?: CallOptions) => Promise<void>
  /** Makes a key like this one, which ends after a day, or after `grace_seconds`. */
  rotate: (
    keyId: string,
    how?: Endpoints['POST /v1/keys/{key_id}/rotate']['body'],
    options?: KeyOptions,
  ) => Promise<NewOwnKey>
  /** Ends a key for good, and resolves to when it was ended. */
  revoke: (keyId: string, options?: CallOptions) => Promise<string>
}

export type KeyOptions = CallOptions & {
  /** A key is made once for it. Where the answer was lost, a repetition rejects as a `conflict` whose message names the key. */
  idempotencyKey?: string | undefined
}

export type AuditList = {
  /** What was done, and by whom; the newest first. */
  list: (options?: ListOptions) => AsyncGenerator<AuditEntry, void, undefined>
  /** Has its chain of hashes computed again; a `head` of an earlier answer also shows whether newer entries were cut off. */
  verify: (asked?: { head?: string | undefined }, options?: CallOptions) => Promise<AuditVerification>
}

export const createKeys = (call: Call): Keys => {
  const at = (keyId: string) => `/v1/keys/${encodeURIComponent(keyId)}`
  const make = async (path: string, body: object, { idempotencyKey = newKey(), ...options }: KeyOptions) =>
    (await call({ method: 'POST', path, body: JSON.stringify(body), idempotencyKey }, options)).json as NewOwnKey
  return {
    list: (filter = {}, options = {}) => eachOf<OwnKey>(call, { path: '/v1/keys', name: 'keys' }, filter, options),
    issue: (wanted = {}, options = {}) => make('/v1/keys', wanted, options),
    rename: async (keyId, name, options) => {
      await call({ method: 'PATCH', path: at(keyId), body: JSON.stringify({ name }) }, options)
    },
    rotate: (keyId, how = {}, options = {}) => make(`${at(keyId)}/rotate`, how, options),
    revoke: async (keyId, options) => {
      const { json } = await call({ method: 'POST', path: `${at(keyId)}/revoke`, body: '{}' }, options)
      return (json as AnswerTo<'POST /v1/keys/{key_id}/revoke'>).revoked_at
    },
  }
}

export const createAudit = (call: Call): AuditList => ({
  list: (options = {}) => eachOf<AuditEntry>(call, { path: '/v1/audit', name: 'done' }, {}, options),
  verify: async ({ head } = {}, options) =>
    (await call({ method: 'GET', path: `/v1/audit/verification${queryOf({ head })}` }, options))
      .json as AuditVerification,
})
