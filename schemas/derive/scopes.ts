import type { Catalogue } from '../catalogue.js'

export const writeScope = (type: string): string => `${type}:write`
export const allData = 'data:write'
export const dataRead = 'data:read'
export const readInteractions = 'interactions:read'
export const readRequests = 'requests:read'
/** The marts: figures of all records together, and rows about single customers. */
export const readAnalytics = 'analytics:read'
/** Everything that is kept about one person, in one answer. */
export const readPersons = 'persons:read'
/** To have a person forgotten: nothing brings back what was erased. */
export const erasePersons = 'persons:erase'
export const readRejections = 'rejections:read'
export const writeRejections = 'rejections:write'
export const readWaiting = 'waiting:read'
export const writeWaiting = 'waiting:write'
/** To make, name, rotate and revoke keys of one's own organisation. Only a key that was given it by name has it. */
export const manageKeys = 'keys:manage'
/** To have what happens sent to addresses, and to see what was sent: what was accepted leaves Weir that way. */
export const manageWebhooks = 'webhooks:manage'
/** For operators' keys alone: others get nothing by them. */
export const readKeys = 'keys:read'
export const writeKeys = 'keys:write'
/** Everything but keys:manage, also what is yet to come; the same as a key that was issued without scopes. */
export const allScopes = 'all'

/** Every scope that a key can be given. */
export const scopesOf = (catalogue: Catalogue): string[] => [
  allScopes,
  allData,
  ...[...catalogue.all.keys()].map(writeScope),
  dataRead,
  readInteractions,
  readRequests,
  readAnalytics,
  readPersons,
  erasePersons,
  readRejections,
  writeRejections,
  readWaiting,
  writeWaiting,
  manageWebhooks,
  manageKeys,
  readKeys,
  writeKeys,
]

/** Those of a key that manages its organisation's keys and may do everything else for it too. */
export const managerScopes: readonly string[] = [allScopes, manageKeys]

/** Scopes as a key has them: `all` is null, unless keys:manage comes with it. */
export const keptScopes = (given: readonly string[] | null): readonly string[] | null => {
  if (!given?.includes(allScopes)) return given
  return given.includes(manageKeys) ? managerScopes : null
}

/** Whether a key with these scopes (null: all but keys:manage) may do what needs this one. */
export const allows = (scopes: readonly string[] | null, needed: string, catalogue: Catalogue): boolean => {
  if (scopes?.includes(needed)) return true
  // A key that was issued for uploads long ago was not meant to make keys that outlive it.
  if (scopes === null || scopes.includes(allScopes)) return needed !== manageKeys
  return scopes.includes(allData) && [...catalogue.uploads.keys()].some((type) => writeScope(type) === needed)
}

/** Those of `wanted` (null: all) that a key with the scopes `own` may not give to another: none but its own may be given. */
export const beyond = (
  own: readonly string[] | null,
  wanted: readonly string[] | null,
  catalogue: Catalogue,
): string[] => (wanted ?? [allScopes]).filter((scope) => !allows(own, scope, catalogue))
