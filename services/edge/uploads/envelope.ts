import { nearest } from '#schemas/derive/nearest-name.js'
import { shorten } from '#schemas/derive/validator.js'
import type { RecordType } from '#schemas/record.js'
import { type RequestError, requestError } from '../http/request-error.js'

/** The records in an upload's body; or why it is no upload. */
export const readRecords = (json: unknown, type: RecordType): { records: unknown[] } | { error: RequestError } => {
  if (!isObject(json)) return refuse('the body must be a JSON object with a "records" array')
  const unknown = Object.keys(json).find((name) => name !== 'records')
  if (unknown !== undefined) {
    const hint = nearest(unknown, ['records']) ? '; did you mean "records"?' : ''
    return refuse(`the body has a field besides "records"${hint}`)
  }
  const { records } = json
  if (records === undefined) return refuse('"records" is missing')
  if (!Array.isArray(records)) return refuse('"records" must be an array')
  if (records.length === 0) return refuse('"records" is empty')
  return records.length > type.limit
    ? refuse(`a request may carry at most ${type.limit} ${type.type}; this one carries ${records.length}`)
    : { records }
}

export const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

const refuse = (message: string) => ({ error: requestError(400, message) })

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

/** What a client prefers, of what we know how to honour. */
export type Preferences = {
  respondAsync: boolean
  /** Seconds that it would wait for the outcome all the same. */
  wait: number | undefined
}

// A day: longer than anybody waits, and far from where a timer overflows.
const longestWait = 86_400

/** Reads a Prefer header as RFC 7240 has it: names in any case, the first of a name counts, what is unknown is ignored. */
export const readPrefer = (header: string | string[] | undefined): Preferences => {
  const given = new Map<string, string>()
  for (const preference of [header ?? []].flat().flatMap(listed)) {
    const [name = '', ...value] = preference.split('=')
    const key = name.trim().toLowerCase()
    if (!given.has(key)) given.set(key, unquote(value.join('=').trim()))
  }
  const wait = given.get('wait') ?? ''
  return {
    // An empty value is the same as none; with any other it is a preference that nobody has defined.
    respondAsync: given.get('respond-async') === '',
    wait: /^\d+$/.test(wait) ? Math.min(Number(wait), longestWait) : undefined,
  }
}

/** The preferences of a list, without their parameters: none are defined for those that we know. */
const listed = (header: string): string[] =>
  (header.match(/(?:"(?:[^"\\]|\\.)*"?|[^",])+/g) ?? []).map(
    (preference) => /^(?:"(?:[^"\\]|\\.)*"?|[^";])*/.exec(preference)?.[0] ?? '',
  )

const unquote = (word: string): string =>
  word.length > 1 && word.startsWith('"') && word.endsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word
