import { isObject } from '#http/read-values.js'
import { type RequestError, requestError } from '#http/request-error.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { shortExampleOf } from '#schemas/derive/openapi/record-schema.js'
import type { RecordType } from '#schemas/record.js'

// What an upload says around its records: in its Prefer header, and in the object that holds them.

/** A body that an upload of this type takes, as it can be pasted. */
export const formOf = (type: RecordType, over: Record<string, unknown> = {}): string =>
  `{"records": [${JSON.stringify({ ...shortExampleOf(type), ...over })}]}`

/** The records in an upload's body; or why it is no upload. */
export const readRecords = (json: unknown, type: RecordType): { records: unknown[] } | { error: RequestError } => {
  const refuseForm = (message: string) => refuse(`${message}; a body that works: ${formOf(type)}`)
  if (Array.isArray(json)) return refuseForm('the body must be an object that holds the array as "records"')
  if (!isObject(json)) return refuseForm('the body must be a JSON object with a "records" array')
  const names = Object.keys(json)
  if (!names.includes('records') && names.some((name) => Object.hasOwn(type.fields, name)))
    return refuseForm('a record has to stand in the "records" array, a single one too')
  const unknown = names.find((name) => name !== 'records')
  if (unknown !== undefined) {
    const hint = nearest(unknown, ['records']) ? '; did you mean "records"?' : ''
    return refuse(`the body has a field besides "records"${hint}`)
  }
  const { records } = json
  if (records === undefined) return refuseForm('"records" is missing')
  if (!Array.isArray(records)) return refuseForm('"records" must be an array')
  if (records.length === 0) return refuseForm('"records" is empty')
  if (records.length <= type.limit) return { records }
  const requests = Math.ceil(records.length / type.limit)
  return refuse(
    `a request may carry at most ${type.limit} ${type.type}; this one carries ${records.length}: send them in ${requests} requests, each with its part in "records"`,
  )
}

const refuse = (message: string) => ({ error: requestError(400, message) })

/** The preferences of a client that the edge knows how to honour. */
export type Preferences = {
  respondAsync: boolean
  /** Seconds that a client which asks for respond-async is willing to wait for the outcome all the same. */
  wait: number | undefined
}

// A day: longer than any client waits, and far below the 25 days at which a timer overflows.
const longestWait = 86_400

/** Reads a Prefer header by RFC 7240: names in any case, the first of a name counts, unknown preferences are ignored. */
export const readPrefer = (header: string | string[] | undefined): Preferences => {
  const given = new Map<string, string>()
  for (const preference of [header ?? []].flat().flatMap(listed)) {
    const [name = '', ...value] = preference.split('=')
    const key = name.trim().toLowerCase()
    if (!given.has(key)) given.set(key, unquote(value.join('=').trim()))
  }
  const wait = given.get('wait') ?? ''
  return {
    // An empty value means the same as none; respond-async with any other value is not defined, so it is ignored.
    respondAsync: given.get('respond-async') === '',
    wait: /^\d+$/.test(wait) ? Math.min(Number(wait), longestWait) : undefined,
  }
}

/** The preferences in a list, without their parameters: the preferences that the edge honours have none. */
const listed = (header: string): string[] =>
  (header.match(/(?:"(?:[^"\\]|\\.)*"?|[^",])+/g) ?? []).map(
    (preference) => /^(?:"(?:[^"\\]|\\.)*"?|[^";])*/.exec(preference)?.[0] ?? '',
  )

const unquote = (word: string): string =>
  word.length > 1 && word.startsWith('"') && word.endsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word
