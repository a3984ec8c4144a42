import {
  defaultRows,
  fault,
  type GivenParameters,
  isObject,
  isPlace,
  isTime,
  notACursor,
  oneOf,
  type Problems,
  readCursorParts,
  readEach,
  type TakeParameter,
  takeLimit,
  unknownName,
  writeCursor,
} from '#http/parameters.js'
import type { Filter } from '#rejections/filter.js'
import type { RejectionPlace } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { createReader, isFault } from '#schemas/derive/value-reader.js'
import { date, moment } from '#schemas/field.js'
import { type ProblemCode, problemCodes } from '#schemas/problem.js'
import { isUuid } from '#schemas/uuid.js'

// What is asked about rejections: filters, pages and days, as they stand in a query string or in the body of a retry.

const filterNames = ['type', 'code', 'field', 'since', 'until', 'request_id'] as const

export const createQuestions = (catalogue: Catalogue) => {
  const types = [...catalogue.all.keys()]
  const readMoment = createReader(moment())
  const readDate = createReader(date())

  const takeFilter =
    (filter: Filter): TakeParameter =>
    (name, value) => {
      switch (name) {
        case 'type':
          filter.type = value
          return oneOf(value, types)
        case 'code':
          filter.code = value as ProblemCode
          return oneOf(value, problemCodes)
        case 'field':
          filter.field = value
          return isFieldName(value) ? undefined : fault('bad_format', 'must be the name of a field')
        case 'request_id':
          filter.request = value.toLowerCase()
          return isUuid(value) ? undefined : fault('bad_format', 'must be the request_id or a batch_id of an answer')
        default: {
          const read = readMoment(/^\d{1,15}$/.test(value) ? Number(value) : value)
          if (isFault(read)) return read
          filter[name as 'since' | 'until'] = new Date(Number(read))
          return undefined
        }
      }
    }

  return {
    /** Of GET /v1/rejections. */
    page: (given: GivenParameters): { filter: Filter; after?: RejectionPlace; limit: number } | Problems => {
      const filter: Filter = {}
      const takeOne = takeFilter(filter)
      const page: { after?: RejectionPlace; limit: number } = { limit: defaultRows }
      const problems = readEach(given, [...filterNames, 'cursor', 'limit'], 'query parameter', (name, value) => {
        if (name === 'limit') return takeLimit(value, page)
        if (name !== 'cursor') return takeOne(name, value)
        const after = readPlace(value)
        if (!after) return notACursor
        page.after = after
        return undefined
      })
      return problems.length > 0 ? { problems } : { filter, ...page }
    },

    /** Of GET /v1/rejections/summary. */
    summary: (given: GivenParameters): { filter: Filter } | Problems => {
      const filter: Filter = {}
      const problems = readEach(given, filterNames, 'query parameter', takeFilter(filter))
      return problems.length > 0 ? { problems } : { filter }
    },

    /** Of GET /v1/quality: whole days, both included; the last 30 where none are named. */
    days: (given: GivenParameters, now: number): { from: string; to: string } | Problems => {
      const days: { from?: string; to?: string } = {}
      const problems = readEach(given, ['from', 'to'], 'query parameter', (name, value) => {
        const read = readDate(value)
        if (isFault(read)) return read
        days[name as 'from' | 'to'] = value
        return undefined
      })
      if (problems.length > 0) return { problems }
      const to = days.to ?? dayOf(now)
      const from = days.from ?? dayOf(Date.parse(to) - 29 * day)
      const length = (Date.parse(to) - Date.parse(from)) / day + 1
      if (length >= 1 && length <= mostDays) return { from, to }
      const message = length < 1 ? 'from must not be after to' : `from and to may be ${mostDays} days at the most`
      return { problems: [{ field: 'from', code: 'out_of_range', message }] }
    },

    /** The body of POST /v1/rejections/retry. */
    retry: (json: unknown): { filter: Filter; dryRun: boolean; limit: number } | Problems => {
      if (!isObject(json)) return wrong('the body must be a JSON object')
      const [stranger] = Object.keys(json).filter((name) => !bodyNames.includes(name))
      if (stranger !== undefined) return { problems: [unknownName(stranger, bodyNames, 'field')] }
      const { filter: given, dry_run: dryRun = false, limit = defaultRetries } = json
      if (!isObject(given))
        return wrong('"filter" is missing: say which, as in {"filter": {"code": "unknown_reference"}}')
      const filter: Filter = {}
      // A time may be a number here, as it may be in a record.
      const present = Object.fromEntries(
        Object.entries(given)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => [name, isMoment(name) && typeof value === 'number' ? String(value) : value]),
      )
      const problems = readEach(present, filterNames, 'filter', takeFilter(filter))
      if (problems.length > 0) return { problems }
      // An empty filter means everything; so does one that a program forgot to fill.
      if (Object.keys(filter).length === 0)
        return wrong(
          '"filter" is empty: for everything there is, say so, as in {"filter": {"since": "2000-01-01T00:00:00Z"}}',
        )
      if (typeof dryRun !== 'boolean') return wrong('"dry_run" must be true or false', 'dry_run')
      if (!Number.isSafeInteger(limit) || Number(limit) < 1 || Number(limit) > mostRetries)
        return wrong(`"limit" must be a whole number from 1 to ${mostRetries}`, 'limit')
      return { filter, dryRun, limit: Number(limit) }
    },
  }
}

const defaultRetries = 1000
const mostRetries = 10_000
const mostDays = 92
const day = 86_400_000
const bodyNames = ['filter', 'dry_run', 'limit']

// biome-ignore lint/suspicious/noControlCharactersInRegex: no field that was ever given by such a name could be asked for
const isFieldName = (text: string): boolean => /^[^\x00-\x1f\x7f]{1,200}$/.test(text)

const isMoment = (name: string): boolean => name === 'since' || name === 'until'

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

const wrong = (message: string, field: string | null = null): Problems => ({
  problems: [{ field, code: 'wrong_type', message }],
})

/** The last rejection of a page, as the next page is asked for. */
export const writePlace = ({ rejectedAt, batchId, index }: RejectionPlace): string =>
  writeCursor([rejectedAt.getTime(), batchId, index])

/** Undefined where the text is no cursor of ours. */
export const readPlace = (text: string): RejectionPlace | undefined => {
  const [time, batchId, index] = readCursorParts(text) ?? []
  if (!isTime(time) || typeof batchId !== 'string' || !isUuid(batchId) || !isPlace(index)) return undefined
  return { rejectedAt: new Date(time), batchId, index }
}
