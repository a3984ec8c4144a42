import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import { OperatorError } from '../desk/operator-error.js'

/** The scopes in `shops:write,tags:write`; each must be one that a route asks for. */
export const readScopes = (given: string, catalogue: Catalogue): string[] => {
  const known = scopesOf(catalogue)
  const scopes = [...new Set(given.split(',').map((scope) => scope.trim()))].filter((scope) => scope !== '')
  // An empty list would read as "no scopes" to one and as "all of them" to another.
  if (scopes.length === 0)
    throw new OperatorError('--scopes names no scope: leave it out for a key that may do everything')
  for (const scope of scopes) {
    if (known.includes(scope)) continue
    const meant = nearest(scope, known)
    const hint = meant ? `did you mean ${meant}?` : `known are ${known.join(', ')}`
    throw new OperatorError(`there is no scope ${JSON.stringify(scope)}: ${hint}`)
  }
  return scopes
}

/** What a key may do, as a list: a key with "all" in the database (null) also gets the scopes of types yet to come. */
export const writeScopes = (scopes: readonly string[] | null, catalogue: Catalogue): string[] => [
  ...(scopes ?? scopesOf(catalogue)),
]
