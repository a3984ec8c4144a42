import { Unavailable } from '#http/request-error.js'
import * as ledger from '#ledger/keys.js'
import { type ListPart, listOrgs, type OrgLimits, setOrgLimits } from '#ledger/organisations.js'
import type { Pool } from '#platform/postgres/postgres.js'

/** What operators see and do by the console; the rest they do by the weir command. */
export type OperatorActions = ReturnType<typeof createOperatorActions>

export const createOperatorActions = (pool: Pool) => ({
  organisations: (asked: Parameters<typeof listOrgs>[1]) => listOrgs(pool, asked).catch(unavailable),
  /** Of one organisation, or with null of all. */
  keys: (org: string | null, part: ListPart) => ledger.listKeys(pool, org, part).catch(unavailable),
  issue: (wanted: Pick<ledger.NewKey, 'org' | 'scopes' | 'lifetime'>): Promise<ledger.IssuedKey> =>
    ledger.issueKey(pool, wanted).catch(unavailable),
  /** Undefined where there is no such key; a text where it cannot be replaced here. */
  rotate: (keyId: string, how: { grace: number; lifetime?: number | undefined }) =>
    ledger
      .rotateKey(pool, keyId, how, mayBeRotated)
      .catch((error: unknown) => (error instanceof NotRotated ? error.answer : unavailable(error))),
  revoke: (keyId: string) => ledger.revokeKey(pool, keyId).catch(unavailable),
  setLimits: (org: string, limits: Partial<OrgLimits>) => setOrgLimits(pool, org, limits).catch(unavailable),
})

/** Ends the transaction of a rotation that is not to be. */
class NotRotated extends Error {
  readonly answer: { problem: string } | undefined
  constructor(answer?: { problem: string }) {
    super('this key is not rotated')
    this.answer = answer
  }
}

const mayBeRotated: (old: ledger.Key | undefined) => asserts old is ledger.Key = (old) => {
  if (!old) throw new NotRotated()
  const state = ledger.stateOf(old, new Date())
  if (state !== 'active') throw new NotRotated({ problem: `this key is ${state}; issue a new one for ${old.org}` })
  // A passer-by who finds an operator's key open on a screen must not leave with a new one.
  if (old.is_operator)
    throw new NotRotated({ problem: `an operator's key is rotated at the server: weir keys rotate ${old.key_id}` })
}

const unavailable = (cause: unknown): never => {
  throw new Unavailable('keys and organisations cannot be read or changed at the moment', { cause })
}
