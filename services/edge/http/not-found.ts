import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { type RequestError, requestError } from './request-error.js'

const uploadPath = /^\/v1\/data\/([^/?#]*)/

/** Why there is nothing at this address, with what the caller may have meant. */
export const notFound = (url: string, catalogue: Catalogue): RequestError => {
  const type = uploadPath.exec(url)?.[1]
  if (type === undefined) return requestError(404, 'there is nothing at this address; /docs shows what there is')
  const types = [...catalogue.uploads.keys()]
  const close = nearest(type, types)
  const known = `the types are ${types.join(', ')}`
  return requestError(404, `there is no such type; ${close ? `did you mean ${close}? ` : ''}${known}`)
}
