import type { ProblemCode } from '#schemas/problem.js'

/** Which rejections are meant: those to which everything applies that is given here. */
export type Filter = {
  org?: string
  type?: string
  /** A request's id, or a batch's. */
  request?: string
  /** A problem with this code, and in this field; where both are given, one problem has both. */
  code?: ProblemCode
  field?: string
  since?: Date
  until?: Date
}

/** The filter as a condition in SQL, and the values of its placeholders. */
export const whereOf = (filter: Filter): { where: string; values: Record<string, unknown> } => {
  const named = Object.keys(filter) as (keyof Filter)[]
  const hasBoth = filter.code !== undefined && filter.field !== undefined
  const where = named.map((name) => (hasBoth && name === 'code' ? codeInField : conditions[name]))
  return {
    where: where.join(' and ') || 'true',
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
  field: 'has(problems.field, {field:String})',
  since: `rejected_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')`,
  until: `rejected_at < fromUnixTimestamp64Milli({until:Int64}, 'UTC')`,
}

const codeInField =
  'arrayExists((code, field) -> code = {code:String} and field = {field:String}, problems.code, problems.field)'
