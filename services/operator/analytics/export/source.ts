import type { Catalogue } from '#schemas/catalogue.js'
import { historyColumns, listOf, quote, viewColumns } from '#schemas/derive/clickhouse/columns.js'
import { database, logTableOf, viewOf } from '#schemas/derive/names.js'
import { marts } from '#schemas/marts/all.js'
import type { Mart } from '#schemas/marts/mart.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { readName } from '../../command/arguments.js'
import { OperatorError } from '../../command/operator-error.js'
import type { KeyColumn } from './ranges.js'

/** What is exported, as it was asked for. */
export type ExportQuestion = {
  name: string
  org?: string | undefined
  /** Days, as in 2026-01-31. */
  from?: string | undefined
  to?: string | undefined
  /** The moment whose records are exported; of a mart there is none. */
  at?: string | undefined
  history?: boolean | undefined
  with: Readonly<Record<string, string>>
}

/** The rows of an export, as queries. */
export type ExportSource = {
  columns: readonly { name: string; type: string }[]
  /** What its rows are sorted by, and cut into pieces. Rows may share a key: they are in one piece then. */
  key: readonly KeyColumn[]
  /** The keys in their order: where pieces may be cut. */
  keys: string
  /** The rows for which these conditions on the key hold. */
  rows: (where: readonly string[]) => string
  values: Readonly<Record<string, string>>
  /** Whether its rows are those of a moment that can be asked for again. */
  isOfMoment: boolean
}

/** The type or the mart of this name. Throws, with the next step, where there is none or where it cannot be asked this way. */
export const sourceOf = (question: ExportQuestion, catalogue: Catalogue): ExportSource => {
  const types = [...catalogue.all.values()]
  const type = types.find(({ type }) => viewOf(type) === viewOf(question.name))
  if (type) return question.history ? historyOf(type, question) : recordsOf(type, question)
  const names = [...types.map(({ type }) => type), ...marts.map(({ name }) => name)]
  const name = readName('type or mart', question.name, names)
  const mart = marts.find((each) => each.name === name)
  if (!mart) throw new Error(`${name} is neither a type nor a mart`)
  return martRows(mart, question)
}

const atMoment = "accepted_at <= {at:DateTime64(3, 'UTC')}"
const text = 'String'

/** Of each record the version that was the newest at the moment, if that did not delete it. */
const recordsOf = (type: RecordType, question: ExportQuestion): ExportSource => {
  refuseValues(question, type.type)
  const columns = viewColumns(type)
  const key = keyOf(type)
  const sorted = key.map(({ name }) => name).join(', ')
  const log = `${database}.${logTableOf(type.type)}`
  const inAll = [...ofOrg(question), atMoment]
  const days = daysOf(question, timeOf(type))
  const isAlive = type.fields.is_deleted ? ['not ifNull(log.is_deleted, false)'] : []
  const shown = columns.map(({ name }) =>
    name === 'is_deleted' ? 'ifNull(log.is_deleted, false) as is_deleted' : quote(name),
  )
  return {
    ...{ columns, key, values: valuesOf(question), isOfMoment: true },
    keys: `select ${sorted} from ${log}${whereAll([...inAll, ...days])} order by ${sorted} limit 1 by ${sorted}`,
    rows: (where) => `select ${shown.join(', ')}
from (
  select ${listOf(columns)}
  from ${log}${whereAll([...inAll, ...where])}
  order by ${sorted}, version desc
  limit 1 by ${sorted}
) as log${whereAll([...isAlive, ...days])}
order by ${sorted}`,
  }
}

/** Every version of every record up to the moment, with the time in which it was valid, as far as that was known at the moment. */
const historyOf = (type: RecordType, question: ExportQuestion): ExportSource => {
  refuseValues(question, type.type)
  if (!hasVersions(type)) throw new OperatorError(`${type.type} have no versions: leave out --all-versions`)
  const columns = historyColumns(type)
  const key = keyOf(type)
  const sorted = key.map(({ name }) => name).join(', ')
  const log = `${database}.${logTableOf(type.type)}`
  const inAll = [...ofOrg(question), atMoment]
  const days = daysOf(question, 'accepted_at')
  const expressions: Readonly<Record<string, string>> = {
    is_deleted: 'ifNull(log.is_deleted, false) as is_deleted',
    valid_from: 'log.accepted_at as valid_from',
    valid_to: 'log.next_at as valid_to',
  }
  const stored = `${listOf(columns.filter(({ name }) => !name.startsWith('valid_')))}, accepted_at`
  const next = `leadInFrame(toNullable(accepted_at)) over (partition by ${sorted} order by version rows between current row and unbounded following)`
  return {
    ...{ columns, key, values: valuesOf(question), isOfMoment: true },
    keys: `select ${sorted} from ${log}${whereAll([...inAll, ...days])} order by ${sorted}`,
    rows: (where) => `select ${columns.map(({ name }) => expressions[name] ?? quote(name)).join(', ')}
from (
  select ${stored}, ${next} as next_at
  from (
    select ${stored}
    from ${log}${whereAll([...inAll, ...where])}
    order by ${sorted}, version
    limit 1 by ${sorted}, version
  )
) as log${whereAll(days)}
order by ${sorted}, version`,
  }
}

/** A mart's rows as its view shows them when a piece is read. */
const martRows = (mart: Mart, question: ExportQuestion): ExportSource => {
  if (question.history) throw new OperatorError(`${mart.name} is a mart and has no versions: leave out --all-versions`)
  if (question.at !== undefined)
    throw new OperatorError(`${mart.name} is a mart, which shows what is current: leave out --at`)
  refuseValues(question, mart.name, mart.asked)
  if (!mart.columns.day && (question.from ?? question.to) !== undefined)
    throw new OperatorError(`${mart.name} has no column day: leave out --from and --to`)
  const columns = Object.entries(mart.columns).map(([name, { type }]) => ({ name, type }))
  const key = leading(columns)
  const sorted = key.map(({ name }) => name).join(', ')
  const asked = Object.keys(mart.asked ?? {}).map((name) => `${name} = {with_${name}:String}`)
  const view = `${database}.${mart.name}${asked.length > 0 ? `(${asked.join(', ')})` : ''}`
  const inAll = [...ofOrg(question), ...daysOf(question, 'day')]
  return {
    ...{ columns, key, values: valuesOf(question), isOfMoment: false },
    keys: `select ${sorted} from ${view}${whereAll(inAll)} order by ${sorted}`,
    rows: (where) =>
      `select ${columns.map(({ name }) => quote(name)).join(', ')}\nfrom ${view}${whereAll([...inAll, ...where])}\norder by ${sorted}`,
  }
}

/** What a type's log is sorted by, up to the record's id: so the rows of a piece are read from one place. */
const keyOf = (type: RecordType): KeyColumn[] => [
  { name: 'org_id', type: text },
  ...(momentOf(type) ?? []).map((name) => ({ name, type: "DateTime64(3, 'UTC')" })),
  { name: type.id, type: 'UUID' },
]

const momentOf = (type: RecordType): string[] | undefined =>
  hasVersions(type)
    ? undefined
    : Object.entries(type.fields).flatMap(([name, field]) => (field.kind === 'moment' ? [name] : []))

/** The first columns of a mart, up to an id and without those that may be null: enough to cut its rows into pieces. */
const leading = (columns: readonly KeyColumn[]): KeyColumn[] => {
  const plain = columns.map(({ name, type }) => ({ name, type: type.replace(/^LowCardinality\((\w+)\)$/, '$1') }))
  const end = plain.findIndex(({ type }) => !/^(String|UUID|Date32)$/.test(type))
  const candidates = end === -1 ? plain : plain.slice(0, end)
  const id = candidates.findIndex(({ type }) => type === 'UUID')
  return id === -1 ? candidates : candidates.slice(0, id + 1)
}

/** When a record happened: as it says itself, or else when it was accepted. */
const timeOf = (type: RecordType): string => momentOf(type)?.[0] ?? 'ifNull(created, accepted_at)'

const daysOf = ({ from, to }: ExportQuestion, time: string): string[] => [
  ...(from === undefined ? [] : [`toDate32(${time}) >= {from:Date32}`]),
  ...(to === undefined ? [] : [`toDate32(${time}) <= {to:Date32}`]),
]

const ofOrg = ({ org }: ExportQuestion): string[] => (org === undefined ? [] : ['org_id = {org:String}'])

const whereAll = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `\nwhere ${conditions.join(' and ')}`

const valuesOf = ({ org, from, to, at, with: given }: ExportQuestion): Record<string, string> => ({
  ...(org !== undefined && { org }),
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
  ...(at !== undefined && { at }),
  ...Object.fromEntries(Object.entries(given).map(([name, value]) => [`with_${name}`, value])),
})

/** Of a mart that is asked with values all of them have to be there; anything else is asked with none. */
const refuseValues = (question: ExportQuestion, name: string, asked: Readonly<Record<string, string>> = {}): void => {
  const missing = Object.keys(asked).filter((each) => question.with[each] === undefined)
  const unknown = Object.keys(question.with).filter((each) => asked[each] === undefined)
  const example = Object.entries(asked).map(([each, value]) => `--with ${each}='${value}'`)
  if (missing.length > 0)
    throw new OperatorError(`${name} is asked with ${missing.join(' and ')}: ${example.join(' ')}`)
  if (unknown.length > 0) {
    const instead = example.length > 0 ? `it is asked ${example.join(' ')}` : 'leave out --with'
    throw new OperatorError(`${name} is not asked with ${unknown.join(' and ')}: ${instead}`)
  }
}
