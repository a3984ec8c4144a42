import type { Command } from 'commander'
import type { Filter } from '#rejections/filter.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { problemCodes } from '#schemas/problem.js'
import { isUuid } from '#schemas/uuid.js'
import { readMoment, readName, readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'

/** The filter as an operator writes it. */
export type FilterOptions = Partial<Record<Exclude<keyof Filter, 'field'>, string>>

/** The options that say which rejections are meant, the same for each command. */
export const addFilterOptions = (command: Command): Command =>
  command
    .option('--org <id>', 'only those of one organisation')
    .option('--type <type>', 'only records of one type, such as offers')
    .option('--request <id>', 'only those of one request, or of one batch')
    .option('--code <code>', 'only those with such a problem, such as unknown_reference')
    .option('--since <when>', 'refused since then: how long ago (30m, 24h, 7d), or an ISO 8601 date or time')
    .option('--until <when>', 'refused before then')

export const readFilter = (given: FilterOptions, catalogue: Catalogue, now: number): Filter => ({
  ...(given.org !== undefined && { org: readOrg(given.org) }),
  ...(given.type !== undefined && { type: readName('type', given.type, [...catalogue.all.keys()]) }),
  ...(given.request !== undefined && { request: readId(given.request) }),
  ...(given.code !== undefined && { code: readName('code', given.code, problemCodes) }),
  ...(given.since !== undefined && { since: readWhen(given.since, now) }),
  ...(given.until !== undefined && { until: readWhen(given.until, now) }),
})

export const readId = (given: string): string => {
  if (isUuid(given)) return given.toLowerCase()
  throw new OperatorError(`${JSON.stringify(given)} is not a request_id or batch_id: "weir rejected list" shows them`)
}

const readWhen = (given: string, now: number): Date => {
  const problem = `"${given}" is not a time: write how long ago (30m, 24h, 7d), or a date or time such as 2026-01-31T12:00:00Z`
  return new Date(readMoment(given, now, problem))
}
