import type { Catalogue } from '../catalogue.js'

export const writeScope = (type: string): string => `${type}:write`
export const allData = 'data:write'
export const dataRead = 'data:read'
export const readInteractions = 'interactions:read'
export const readRequests = 'requests:read'
export const readRejections = 'rejections:read'
export const writeRejections = 'rejections:write'
export const readWaiting = 'waiting:read'
export const writeWaiting = 'waiting:write'
/** For operators' keys alone: others get nothing by them. */
export const readKeys = 'keys:read'
export const writeKeys = 'keys:write'

/** Every scope that a key can be given. */
export const scopesOf = (catalogue: Catalogue): string[] => [
  allData,
  ...[...catalogue.all.keys()].map(writeScope),
  dataRead,
  readInteractions,
  readRequests,
  readRejections,
  writeRejections,
  readWaiting,
  writeWaiting,
  readKeys,
  writeKeys,
]

/** Whether a key with these scopes (null: all) may do what needs this one. */
export const allows = (scopes: readonly string[] | null, needed: string, catalogue: Catalogue): boolean =>
  scopes === null ||
  scopes.includes(needed) ||
  (scopes.includes(allData) && [...catalogue.uploads.keys()].some((type) => writeScope(type) === needed))
