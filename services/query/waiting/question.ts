import {
  defaultRows,
  fault,
  type GivenParameters,
  isObject,
  isPlace,
  isTime,
  notACursor,
  oneOf,
  type ParameterFault,
  type Problems,
  readCursorParts,
  readEach,
  takeLimit,
  writeCursor,
} from '#http/parameters.js'
import type { AfterMissing, AfterWait } from '#ledger/waiting/look-up.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Problem } from '#schemas/problem.js'
import { isUuid } from '#schemas/uuid.js'
import type { OwnWaits } from './waiting.js'

// What is asked about waiting records, as it stands in a query string or in the body of a cancellation.

const filterNames = ['type', 'id', 'missing_type', 'missing_id'] as const
type NamedFilter = Partial<Record<(typeof filterNames)[number], string>>

export const createWaitingQuestions = (catalogue: Catalogue) => {
  const types = [...catalogue.all.keys()]
  const uploads = [...catalogue.uploads.keys()]

  const takeFilter = (named: NamedFilter, name: string, value: string): ParameterFault | undefined => {
    if (name === 'type') named.type = value
    if (name === 'missing_type') named.missing_type = value
    if (name === 'type' || name === 'missing_type') return oneOf(value, name === 'type' ? types : uploads)
    named[name as 'id' | 'missing_id'] = value.toLowerCase()
    return isUuid(value) ? undefined : fault('bad_format', 'must be the id of a record')
  }

  return {
    /** Of GET /v1/waiting. */
    missing: (given: GivenParameters): { type?: string; after?: AfterMissing; limit: number } | Problems => {
      const asked: { type?: string; after?: AfterMissing; limit: number } = { limit: defaultRows }
      const problems = readEach(given, ['type', 'cursor', 'limit'], 'query parameter', (name, value) => {
        if (name === 'limit') return takeLimit(value, asked)
        if (name === 'type') {
          asked.type = value
          return oneOf(value, uploads)
        }
        const after = readAfterMissing(value)
        if (after) asked.after = after
        return after ? undefined : notACursor
      })
      return problems.length > 0 ? { problems } : asked
    },

    /** Of GET /v1/waiting/records. */
    records: (given: GivenParameters): { filter: OwnWaits; after?: AfterWait; limit: number } | Problems => {
      const named: NamedFilter = {}
      const page: { after?: AfterWait; limit: number } = { limit: defaultRows }
      const problems = readEach(given, [...filterNames, 'cursor', 'limit'], 'query parameter', (name, value) => {
        if (name === 'limit') return takeLimit(value, page)
        if (name !== 'cursor') return takeFilter(named, name, value)
        const after = readAfterWait(value)
        if (after) page.after = after
        return after ? undefined : notACursor
      })
      problems.push(...halvesOf(named))
      return problems.length > 0 ? { problems } : { filter: toFilter(named), ...page }
    },

    /** The body of POST /v1/waiting/cancel. */
    cancel: (json: unknown): { filter: OwnWaits } | Problems => {
      if (!isObject(json)) return { problems: [wrong('the body must be a JSON object')] }
      const named: NamedFilter = {}
      const problems = readEach(json, filterNames, 'field', (name, value) => takeFilter(named, name, value))
      problems.push(...halvesOf(named))
      if (problems.length > 0) return { problems }
      // Nothing said, or no more than a type, would end the waiting of everything; a program that forgot to fill in an id must not.
      const isExact = (named.type !== undefined && named.id !== undefined) || named.missing_id !== undefined
      if (!isExact)
        return {
          problems: [
            wrong('say which: "type" and "id" of one record, or "missing_type" and "missing_id" of what is waited for'),
          ],
        }
      return { filter: toFilter(named) }
    },
  }
}

const wrong = (message: string): Problem => ({ field: null, code: 'missing_field', message })

/** What is missing is named by its type and its id. */
const halvesOf = ({ missing_type: type, missing_id: id }: NamedFilter): Problem[] =>
  (type === undefined) === (id === undefined)
    ? []
    : [
        wrong(
          type === undefined ? 'missing_id needs missing_type beside it' : 'missing_type needs missing_id beside it',
        ),
      ]

const toFilter = ({ type, id, missing_type, missing_id }: NamedFilter): OwnWaits => ({
  ...(type !== undefined && { type }),
  ...(id !== undefined && { id }),
  ...(missing_type !== undefined && missing_id !== undefined && { missing: { type: missing_type, id: missing_id } }),
})

export const writeAfterMissing = ({ oldest, type, id }: AfterMissing): string =>
  writeCursor([oldest.getTime(), type, id])

export const readAfterMissing = (text: string): AfterMissing | undefined => {
  const [time, type, id] = readCursorParts(text) ?? []
  if (!isTime(time) || typeof type !== 'string' || !isTypeName(type) || typeof id !== 'string' || !isUuid(id))
    return undefined
  return { oldest: new Date(time), type, id }
}

export const writeAfterWait = ({ since, batchId, place }: AfterWait): string =>
  writeCursor([since.getTime(), batchId, place])

export const readAfterWait = (text: string): AfterWait | undefined => {
  const [time, batchId, place] = readCursorParts(text) ?? []
  if (!isTime(time) || typeof batchId !== 'string' || !isUuid(batchId) || !isPlace(place)) return undefined
  return place <= largestPlace ? { since: new Date(time), batchId, place } : undefined
}

// Postgres keeps a place as an integer.
const largestPlace = 0x7fff_ffff

/** One that was in the catalogue once may still be in a cursor. */
const isTypeName = (text: string): boolean => /^[a-z][a-z0-9-]{0,60}$/.test(text)
