import type { Problems } from '#http/read-values.js'
import { ofOneOrganisation } from '#schemas/derive/clickhouse/showing.js'
import { database } from '#schemas/derive/names.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import type { QueryOf } from '#schemas/endpoints/endpoint.js'
import type { readMart } from '#schemas/endpoints/marts.js'
import type { Mart } from '#schemas/marts/mart.js'

/** What is asked of a mart, as it was read from the query; the values that it is asked with stand beside it by their names. */
export type MartQuestion = Pick<QueryOf<typeof readMart>, 'limit'> & Partial<QueryOf<typeof readMart>>

export type MartStatement = {
  /** The names of columns in it are those of the mart; whatever a caller chose besides is bound to its placeholders. */
  sql: string
  values: Record<string, unknown>
  settings: Record<string, string>
  columns: { name: string; type: string; about: string }[]
  /** The same to be pasted into ClickHouse, with the values in it. */
  pasteable: string
}

/** An organisation's rows of a mart, or the sums of them, as a query; or what is wrong with the question. */
export const toStatement = (mart: Mart, org: string, asked: MartQuestion): MartStatement | Problems => {
  const problems = problemsOf(mart, asked)
  if (problems.length > 0) return { problems }
  const by = namesIn(asked.by)
  const summed = namesIn(asked.sum)
  const isSummed = asked.by !== undefined || asked.sum !== undefined
  const own = ownColumns(mart)
  const kept = isSummed ? by : own
  const columns = [
    ...[...kept, ...summed].map((name) => ({ name, type: '', about: '', ...mart.columns[name] })),
    ...(isSummed ? [rowsColumn] : []),
  ]
  const order = orderOf(asked.order, isSummed ? by : leadingColumns(mart))
  const chosen = Object.entries(conditions).filter(([name]) => asked[name as keyof MartQuestion] !== undefined)
  const given = Object.keys(mart.asked ?? {})
  const sql = [
    `select ${[...kept, ...summed.map((name) => `sum(${name}) as ${name}`), ...(isSummed ? ['count() as rows'] : [])].join(', ')}`,
    `from ${database}.${mart.name}${given.length > 0 ? `(${given.map((name) => `${name} = {${name}:String}`).join(', ')})` : ''}`,
    `where ${['org_id = {org:String}', ...chosen.map(([, { where }]) => where)].join(' and ')}`,
    ...(by.length > 0 ? [`group by ${by.join(', ')}`] : []),
    ...(order.length > 0 ? [`order by ${order.join(', ')}`] : []),
    'limit {limit:UInt32}',
  ].join('\n')
  const bound = [...chosen.map(([name]) => name), ...given]
  const values = {
    org,
    ...Object.fromEntries(bound.map((name) => [name, asked[name as keyof MartQuestion]])),
    limit: asked.limit,
  }
  return { sql, values, settings: ofOneOrganisation(mart, org), columns, pasteable: withValues(sql, values) }
}

/** The columns that are answered: whose rows they are is known. */
export const ownColumns = (mart: Mart): string[] => Object.keys(mart.columns).filter((name) => name !== 'org_id')

/** Up to the first number: in every mart these tell its rows apart, so that the same question has the same answer. */
const leadingColumns = (mart: Mart): string[] => {
  const own = ownColumns(mart)
  const first = own.findIndex((name) => isCount(mart, name))
  return first === -1 ? own : own.slice(0, first + 1)
}

const rowsColumn = { name: 'rows', type: 'UInt64', about: 'how many rows of the mart these are' }

/** What chooses rows by a column of the mart. */
const conditions: Readonly<Record<string, { column: string; where: string }>> = {
  from: { column: 'day', where: 'day >= {from:Date32}' },
  to: { column: 'day', where: 'day <= {to:Date32}' },
  region: { column: 'region', where: 'region = {region:String}' },
  shop_id: { column: 'shop_id', where: 'shop_id = {shop_id:UUID}' },
}

const namesIn = (list: string | undefined): string[] => [...new Set(list?.split(',') ?? [])]

/** Numbers of things, and money: what can be summed without becoming something else. */
const isCount = ({ columns }: Mart, name: string): boolean => /^(U?Int|Decimal)/.test(columns[name]?.type ?? '')

/** The column that was asked for comes first; the others settle ties. */
const orderOf = (asked: string | undefined, usual: readonly string[]): string[] => {
  const name = asked?.replace(/^-/, '')
  const first = name === undefined ? [] : [asked?.startsWith('-') ? `${name} desc` : name]
  return [...first, ...usual.filter((each) => each !== name)]
}

const problemsOf = (mart: Mart, asked: MartQuestion): Problems['problems'] => {
  const own = ownColumns(mart)
  const counts = own.filter((name) => isCount(mart, name))
  const by = namesIn(asked.by)
  const summed = namesIn(asked.sum)
  const isSummed = asked.by !== undefined || asked.sum !== undefined
  const answered = isSummed ? [...by, ...summed, rowsColumn.name] : own
  const given = asked as Readonly<Record<string, unknown>>
  return [
    ...Object.entries(conditions).flatMap(([name, { column }]) =>
      given[name] !== undefined && !mart.columns[column]
        ? [wrong(name, `${mart.name} has no column ${column}: leave out ${name}`)]
        : [],
    ),
    ...(asked.from !== undefined && asked.to !== undefined && asked.from > asked.to
      ? [wrong('from', 'from must not be after to')]
      : []),
    ...by.flatMap((name) => (own.includes(name) ? [] : [noColumn('by', mart, name, own)])),
    ...summed.flatMap((name) =>
      !counts.includes(name)
        ? [noColumn('sum', mart, name, counts)]
        : by.includes(name)
          ? [wrong('sum', `${name} is in by already: leave it out of one of the two`)]
          : [],
    ),
    ...[asked.order?.replace(/^-/, '')].flatMap((name) =>
      name === undefined || answered.includes(name) ? [] : [noColumn('order', mart, name, answered)],
    ),
    ...valueProblems(mart, given),
  ]
}

/** Of a mart that is asked with values all of them, of any other none. */
const valueProblems = (mart: Mart, given: Readonly<Record<string, unknown>>): Problems['problems'] => {
  const needed = Object.keys(mart.asked ?? {})
  const missing = needed.filter((name) => given[name] === undefined)
  if (missing.length > 0) {
    const example = new URLSearchParams(mart.asked).toString()
    const message = `${mart.name} is asked with ${needed.join(' and ')}, as in /v1/marts/${mart.name}?${example}`
    return [wrong(missing[0] ?? null, message)]
  }
  const known = new Set(['limit', 'by', 'sum', 'order', ...Object.keys(conditions), ...needed])
  return Object.keys(given).flatMap((name) =>
    known.has(name) || given[name] === undefined
      ? []
      : [wrong(name, `${mart.name} is not asked with values: leave out ${name}`)],
  )
}

/** What is right by itself, and wrong for this mart. */
const wrong = (field: string | null, message: string) => ({ field, code: 'out_of_range' as const, message })

const noColumn = (parameter: string, { name: mart }: Mart, name: string, known: readonly string[]) => {
  const close = nearest(name, known)
  const what = parameter === 'sum' ? 'column to be summed' : 'column'
  const hint = `${close ? `did you mean ${close}? ` : ''}There are ${known.join(', ')}`
  return wrong(parameter, `${parameter}: ${mart} has no ${what} ${name}; ${hint}`)
}

/** What reads the same in ClickHouse: each placeholder is replaced by its value as a literal. */
const withValues = (sql: string, values: Readonly<Record<string, unknown>>): string =>
  sql.replaceAll(/\{(\w+):\w+\}/g, (_, name: string) => literal(values[name]))

const literal = (value: unknown): string =>
  typeof value === 'number' ? String(value) : `'${String(value).replaceAll(/[\\']/g, '\\$&')}'`
