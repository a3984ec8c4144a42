import { isPlace, isTime, readCursor, writeCursor } from '#http/cursor.js'
import type { Problems } from '#http/read-values.js'
import type { FieldChange } from '#ledger/retries/claims.js'
import { type Filter, hasValue } from '#rejections/filter.js'
import type { RejectionPlace } from '#rejections/find-rejections.js'
import type { RetryPlace } from '#rejections/plan-retry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { BodyOf, QueryOf } from '#schemas/endpoints/endpoint.js'
import type { readQuality, retryRejections, summariseRejections } from '#schemas/endpoints/rejections.js'
import { notACursor } from '#schemas/endpoints/values.js'
import type { RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'

// What is asked about rejections, beyond what each value has to be by itself.

export const toFilter = ({
  request_id: request,
  ...filter
}: Omit<QueryOf<typeof summariseRejections>, 'state'>): Filter => ({
  ...filter,
  ...(request !== undefined && { request }),
})

/** Of GET /v1/quality: whole days, both included; the last 30 where none are named. */
export const toDays = (asked: QueryOf<typeof readQuality>, now: number): { from: string; to: string } | Problems => {
  const to = asked.to ?? dayOf(now)
  const from = asked.from ?? dayOf(Date.parse(to) - 29 * day)
  const length = (Date.parse(to) - Date.parse(from)) / day + 1
  if (length >= 1 && length <= mostDays) return { from, to }
  const message = length < 1 ? 'from must not be after to' : `from and to may be ${mostDays} days at the most`
  return { problems: [{ field: 'from', code: 'out_of_range', message }] }
}

/** The body of POST /v1/rejections/retry. An empty filter means everything; so does one that a program forgot to fill. */
export const toRetry = (
  { filter, dry_run: dryRun, limit, cursor, change: given }: BodyOf<typeof retryRejections>,
  catalogue: Catalogue,
): RetryAsked | Problems => {
  if (Object.keys(filter).length === 0) return { problems: [{ field: null, code: 'wrong_type', message: emptyFilter }] }
  const change = given && toChange(given, filter.type === undefined ? undefined : catalogue.all.get(filter.type))
  if (change && 'problems' in change) return change
  const after = cursor === undefined ? undefined : readRetryPlace(cursor)
  if (cursor !== undefined && !after)
    return {
      problems: [{ field: 'cursor', code: 'bad_format', message: notACursor }],
    }
  return { filter: { ...toFilter(filter), ...change?.which }, dryRun, limit, after, change: change?.change }
}

export type RetryAsked = {
  filter: Filter
  dryRun: boolean
  limit: number
  after: RetryPlace | undefined
  change?: FieldChange | undefined
}

/** What is to be changed, and in which records. An id stays as it is: a record of another id is another record. */
const toChange = (
  given: NonNullable<BodyOf<typeof retryRejections>['change']>,
  type: RecordType | undefined,
): { change: FieldChange; which: Pick<Filter, 'within'> } | Problems => {
  const refuse = (message: string): Problems => ({ problems: [{ field: 'change', code: 'out_of_range', message }] })
  if (!type) return refuse('"change" needs a type in the filter: fields belong to a type')
  if (given.field === type.id) return refuse(`${type.id} cannot be changed: a record of another id is another record`)
  if (JSON.stringify(given).length > mostChange) return refuse(`"change" may have ${mostChange} characters at the most`)
  return {
    change: { field: given.field, ...('to' in given && { to: given.to }) },
    which: 'from' in given ? { within: [hasValue(given.field, given.from)] } : {},
  }
}
const mostChange = 10_000

/** Where a retry ended, as the next one goes on. */
export const writeRetryPlace = ({ type, version, batchId, index }: RetryPlace): string =>
  writeCursor([type, version, batchId, index])

const readRetryPlace = (text: string): RetryPlace | undefined => {
  const [type, version, batchId, index] = readCursor(text, 4)
  if (typeof type !== 'string' || !Number.isSafeInteger(version) || Number(version) < 0) return undefined
  if (typeof batchId !== 'string' || !isUuid(batchId) || !isPlace(index)) return undefined
  return { type, version: Number(version), batchId, index }
}

const emptyFilter =
  '"filter" is empty: for everything there is, say so, as in {"filter": {"since": "2000-01-01T00:00:00Z"}}'
const mostDays = 92
const day = 86_400_000
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** The last rejection of a page, as the next page is asked for. */
export const writePlace = ({ rejectedAt, batchId, index }: RejectionPlace): string =>
  writeCursor([rejectedAt.getTime(), batchId, index])

/** Undefined where the text is no cursor of ours. */
export const readPlace = (text: string): RejectionPlace | undefined => {
  const [time, batchId, index] = readCursor(text, 3)
  if (!isTime(time) || typeof batchId !== 'string' || !isUuid(batchId) || !isPlace(index)) return undefined
  return { rejectedAt: new Date(time), batchId, index }
}
