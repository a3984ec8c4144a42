import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { type ProblemCode, problemCodes } from '#schemas/problem.js'
import { readInstant } from '#schemas/read-instant.js'
import { isUuid } from '#schemas/uuid.js'
import { readOrg } from '../access/read-org.js'
import { readDuration } from '../desk/arguments.js'
import { OperatorError } from '../desk/operator-error.js'

/** Which rejections are meant; what is left out does not matter. */
export type Filter = {
  org?: string
  type?: string
  /** A request's id, or a batch's. */
  request?: string
  code?: ProblemCode
  since?: Date
  until?: Date
}

/** The filter as an operator writes it. */
export type FilterOptions = Partial<Record<keyof Filter, string>>

export const readFilter = (given: FilterOptions, catalogue: Catalogue, now: number): Filter => ({
  ...(given.org !== undefined && { org: readOrg(given.org) }),
  ...(given.type !== undefined && { type: readName('type', given.type, [...catalogue.all.keys()]) }),
  ...(given.request !== undefined && { request: readId(given.request) }),
  ...(given.code !== undefined && { code: readName('code', given.code, problemCodes) }),
  ...(given.since !== undefined && { since: readMoment(given.since, now) }),
  ...(given.until !== undefined && { until: readMoment(given.until, now) }),
})

/** The condition in ClickHouse's words, and the values of its places. */
export const whereOf = (filter: Filter): { where: string; values: Record<string, unknown> } => {
  const named = Object.keys(filter) as (keyof Filter)[]
  return {
    where: named.map((name) => conditions[name]).join(' and ') || 'true',
    values: Object.fromEntries(
      named.map((name) => [name, filter[name] instanceof Date ? filter[name].getTime() : filter[name]]),
    ),
  }
}

const conditions: Record<keyof Filter, string> = {
  org: 'org_id = {org:String}',
  type: 'type = {type:String}',
  request: '(request_id = {request:UUID} or batch_id = {request:UUID})',
  code: 'has(problems.code, {code:String})',
  since: `rejected_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
  until: `rejected_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')`,
}

export const readId = (given: string): string => {
  if (isUuid(given)) return given.toLowerCase()
  throw new OperatorError(`${JSON.stringify(given)} is not a request_id or batch_id: "weir rejected list" shows them`)
}

/** 24h: that long ago; or a time such as 2026-01-31T12:00:00Z. */
export const readMoment = (given: string, now: number): Date => {
  if (/^\d{1,9}[smhdw]$/.test(given)) return new Date(now - readDuration(given))
  const ms = readInstant(/^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given}T00:00Z` : given)
  if (typeof ms === 'number') return new Date(ms)
  throw new OperatorError(
    `"${given}" is not a time: write how long ago (30m, 24h, 7d), or a date or time such as 2026-01-31T12:00:00Z`,
  )
}

const readName = <T extends string>(what: string, given: string, known: readonly T[]): T => {
  const found = known.find((name) => name === given)
  if (found) return found
  const meant = nearest(given, known)
  throw new OperatorError(
    `there is no ${what} ${JSON.stringify(given)}: ${meant ? `did you mean ${meant}?` : `known are ${known.join(', ')}`}`,
  )
}
