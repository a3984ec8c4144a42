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
  /** Conditions besides. */
  within?: readonly Condition[]
}

/** A condition in SQL with the values of its placeholders, and settings that a query with it needs. */
export type Condition = { where: string; values: Record<string, unknown>; settings?: Record<string, number> }

/** The filter as a condition in SQL. */
export const whereOf = ({ within = [], ...filter }: Filter): Required<Condition> => {
  const named = Object.keys(filter) as (keyof typeof filter)[]
  const hasBoth = filter.code !== undefined && filter.field !== undefined
  const where = named.map((name) => (hasBoth && name === 'code' ? codeInField : conditions[name]))
  const values = named.map((name) => [name, filter[name] instanceof Date ? filter[name].getTime() : filter[name]])
  return {
    where: [...where, ...within.map((one) => one.where)].join(' and ') || 'true',
    values: Object.assign(Object.fromEntries(values), ...within.map((one) => one.values)),
    settings: Object.assign({}, ...within.map((one) => one.settings)),
  }
}

/** For records in which a field has this value; null: also where it is not there. */
export const hasValue = (field: string, value: unknown): Condition => ({
  // Both sides are written by ClickHouse, so that 1.0 and "\\u0041" are what they mean.
  where: `${isReadable} and ${jsonValue} = JSONExtractRaw({value:String}, 'value')`,
  values: { value_field: field, value: JSON.stringify({ value }) },
})
/** The value of the field {value_field} of a record, as JSON. */
export const jsonValue = "ifNull(nullIf(JSONExtractRaw(record, {value_field:String}), ''), 'null')"
/** Whether a record is whole, and ClickHouse can read it: it cannot read one with a number such as 1e400. */
export const isReadable = 'not truncated and isValidJSON(record)'

const conditions: Record<Exclude<keyof Filter, 'within'>, string> = {
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
