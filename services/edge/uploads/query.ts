import { nearest } from '#schemas/derive/nearest-name.js'
import { shorten } from '#schemas/derive/validator.js'
import { type RequestError, requestError } from '../http/request-error.js'

type Query = Readonly<Record<string, unknown>>

/** Reads an upload's query string. Whoever mistypes dry_run must not upload in earnest: all that is unknown is refused. */
export const readUploadQuery = (given: unknown): { dryRun: boolean } | { error: RequestError } => {
  const { dry_run: dryRun = 'false', ...others } = given as Query
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return refuse(`${unknownParameter(unknown)}; ${hintFor(unknown)}`)
  if (Array.isArray(dryRun)) return refuse('dry_run may be given once only')
  return dryRun === 'true' || dryRun === 'false'
    ? { dryRun: dryRun === 'true' }
    : refuse('dry_run must be true or false')
}

/** Why an interaction with this query string is not taken: there is nothing that could be said in one. */
export const refuseQuery = (given: unknown): RequestError | undefined => {
  const [name] = Object.keys(given as Query)
  if (name === undefined) return undefined
  if (nearest(name, known))
    return requestError(400, 'dry_run is for uploads, POST /v1/data/{type}; not for interactions')
  return requestError(400, `${unknownParameter(name)}; recording an interaction takes none`)
}

const known = ['dry_run']

const unknownParameter = (name: string): string => `there is no query parameter ${JSON.stringify(shorten(name))} here`
const hintFor = (name: string): string => (nearest(name, known) ? 'did you mean dry_run?' : 'the only one is dry_run')
const refuse = (message: string) => ({ error: requestError(400, message) })
