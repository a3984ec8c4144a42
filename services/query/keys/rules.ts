import { type RequestError, requestError } from '#http/request-error.js'
import type { Key, Manager } from '#ledger/keys.js'
import { givenLife, stateOf } from '#ledger/keys.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { beyond, manageKeys } from '#schemas/derive/scopes.js'

// What a key with keys:manage may do with the keys of its organisation. Nothing that it makes may do more than it, or live longer.

/** Keys of an organisation that may be used at once, and changes of its keys in 24 hours: a stranger cannot fill the table. */
const mostKeys = 1000
const mostChanges = 1000

/** A key that somebody wants, with its lifetime in milliseconds: undefined where nothing was said. */
export type WantedKey = { scopes: readonly string[] | null; lifetime: number | undefined }

/** Why a key may not be made, if it may not; for how long it lives, if it may. */
export const ruleOnMaking = (
  manager: Manager,
  wanted: WantedKey,
  catalogue: Catalogue,
): { lifetime: number | null } | { error: RequestError } => {
  const refusal = ruleOnChanging(manager) ?? ruleOnNumber(manager) ?? ruleOnScopes(manager, wanted.scopes, catalogue)
  return refusal ? { error: refusal } : lifeUnder(manager, wanted.lifetime, null)
}

/** Likewise for the key that replaces another; unless said, it lives as long as that one was given. */
export const ruleOnRotating = (
  manager: Manager,
  old: Key,
  lifetime: number | undefined,
  catalogue: Catalogue,
): { lifetime: number | null } | { error: RequestError } => {
  // Whoever rotates a key gets its text, and could do with it what it may do.
  const refusal = ruleOnChanging(manager) ?? ruleOnNumber(manager) ?? ruleOnScopes(manager, old.scopes, catalogue)
  return refusal ? { error: refusal } : lifeUnder(manager, lifetime, givenLife(old))
}

/** Why keys may not be changed at all at this moment. */
export const ruleOnChanging = ({ changes }: Manager): RequestError | undefined =>
  changes >= mostChanges
    ? {
        ...requestError(429, `keys of your organisation were changed ${mostChanges} times in the last 24 hours`),
        headers: { 'retry-after': '3600' },
      }
    : undefined

/** Why a key cannot be replaced by anybody over HTTP. */
export const ruleOnOld = (old: Key, now: Date): RequestError | undefined => {
  const state = stateOf(old, now)
  if (state !== 'active') return requestError(409, `this key is ${state}; issue a new one for ${old.org}`)
  // A passer-by who finds an operator's key open on a screen must not leave with a new one.
  return old.is_operator
    ? requestError(409, `an operator's key is rotated at the server: weir keys rotate ${old.key_id}`)
    : undefined
}

const ruleOnNumber = ({ activeKeys }: Manager): RequestError | undefined =>
  activeKeys >= mostKeys
    ? requestError(409, `your organisation has ${activeKeys} active keys; revoke some that are not used any more first`)
    : undefined

const ruleOnScopes = (
  { scopes: own }: Manager,
  wanted: readonly string[] | null,
  catalogue: Catalogue,
): RequestError | undefined => {
  const lacking = beyond(own, wanted, catalogue)
  if (lacking.length === 0) return undefined
  return requestError(
    403,
    `your key lacks ${lacking.join(', ')}, and may make no key that has more than it has; an operator can`,
  )
}

const lifeUnder = (
  { expiresIn }: Manager,
  wanted: number | undefined,
  otherwise: number | null,
): { lifetime: number | null } | { error: RequestError } => {
  if (wanted !== undefined)
    return expiresIn !== null && wanted > expiresIn
      ? { error: requestError(400, `${tooLong} ${Math.floor(expiresIn / 1000)}; or leave expires_in_seconds out`) }
      : { lifetime: wanted }
  if (expiresIn === null) return { lifetime: otherwise }
  return { lifetime: otherwise === null ? expiresIn : Math.min(otherwise, expiresIn) }
}
const tooLong = 'a key lives no longer than the one that makes it: expires_in_seconds may be at most'

/** What a key gets where its maker names no scopes: the maker's own, without the right to make keys. */
export const scopesUnlessSaid = (own: readonly string[] | null): readonly string[] =>
  (own ?? []).filter((scope) => scope !== manageKeys)
