import { Unavailable } from '#http/request-error.js'
import type { IssuedKey, Revoked } from '#ledger/keys.js'
import {
  issueKey,
  type Key,
  listKeys,
  type NewKey,
  type RotatedKey,
  revokeKey,
  rotateKey,
  stateOf,
} from '#ledger/keys.js'
import { listOrgs, type Organisation, type OrgLimits, setOrgLimits } from '#ledger/organisations.js'
import type { Pool } from '#platform/postgres/postgres.js'

/** What operators see and do by the console; the rest they do by the weir command. */
export type OperatorActions = {
  organisations: () => Promise<Organisation[]>
  /** Of one organisation, or with null of all. */
  keys: (org: string | null) => Promise<Key[]>
  issue: (wanted: Pick<NewKey, 'org' | 'scopes' | 'lifetime'>) => Promise<IssuedKey>
  /** Undefined where there is no such key; a text where it cannot be replaced here. */
  rotate: (
    keyId: string,
    how: { grace: number; lifetime?: number | undefined },
  ) => Promise<RotatedKey | { problem: string } | undefined>
  revoke: (keyId: string) => Promise<Revoked | undefined>
  setLimits: (org: string, limits: Partial<OrgLimits>) => Promise<OrgLimits | undefined>
}

export const createOperatorActions = (pool: Pool): OperatorActions => ({
  organisations: () => listOrgs(pool).catch(unavailable),
  keys: (org) => listKeys(pool, org).catch(unavailable),
  issue: (wanted) => issueKey(pool, wanted).catch(unavailable),
  rotate: (keyId, how) =>
    rotateKey(pool, keyId, how, mayBeRotated).catch((error: unknown) =>
      error instanceof NotRotated ? error.answer : unavailable(error),
    ),
  revoke: (keyId) => revokeKey(pool, keyId).catch(unavailable),
  setLimits: (org, limits) => setOrgLimits(pool, org, limits).catch(unavailable),
})

/** Ends the transaction of a rotation that is not to be. */
class NotRotated extends Error {
  readonly answer: { problem: string } | undefined
  constructor(answer?: { problem: string }) {
    super('this key is not rotated')
    this.answer = answer
  }
}

const mayBeRotated: (old: Key | undefined) => asserts old is Key = (old) => {
  if (!old) throw new NotRotated()
  const state = stateOf(old, new Date())
  if (state !== 'active') throw new NotRotated({ problem: `this key is ${state}; issue a new one for ${old.org}` })
  // Whoever finds an operator's key open on a screen must not leave with one of their own.
  if (old.is_operator)
    throw new NotRotated({ problem: `an operator's key is rotated at the server: weir keys rotate ${old.key_id}` })
}

const unavailable = (cause: unknown): never => {
  throw new Unavailable('keys and organisations cannot be read or changed at the moment', { cause })
}
