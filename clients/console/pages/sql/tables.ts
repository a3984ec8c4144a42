import type { MartReference, TypeReference } from '../../../typescript/src/endpoints.js'

/** A view in ClickHouse with what its columns mean. */
export type SqlTable = { name: string; about: string; columns: SqlColumn[] }
type SqlColumn = { name: string; type: string; about: string }

/** What there is to ask: the marts, then the records of each type. */
export const tablesOf = (marts: readonly MartReference[], types: readonly TypeReference[]): SqlTable[] => [
  ...marts.map(({ name, about, grain, columns, asked }) => ({
    name: asked
      ? `${name}(${Object.entries(asked)
          .map(([each, value]) => `${each} = '${value}'`)
          .join(', ')})`
      : name,
    about: `${about} One row: ${grain}.`,
    columns: [...columns],
  })),
  ...types.map(({ type, about, fields }) => ({
    name: type.replaceAll('-', '_'),
    about,
    columns: [...fields.map(({ name, kind, about: meaning }) => ({ name, type: kind, about: meaning })), ...common],
  })),
]

// What every view of records has besides (docs/for-analysts.md).
const common: SqlColumn[] = [
  { name: 'org_id', type: 'text', about: 'the organisation that uploaded the record' },
  { name: 'accepted_at', type: 'instant', about: 'when it was accepted' },
  { name: 'version', type: 'integer', about: 'grows with each change of the record' },
]

/** Something that can be put where one types. */
export type Suggestion = { label: string; kind: 'table' | 'column' | 'function'; detail: string; about: string }

/** What could stand behind `before`, the text of the query up to the cursor: its last word is what was typed of it. */
export const suggestionsFor = (query: string, before: string, tables: readonly SqlTable[]): Suggestion[] => {
  const [, owner] = /(\w+)\.\w*$/.exec(before) ?? []
  if (owner === 'weir') return tables.map(toSuggestion)
  const named = tablesIn(query, tables)
  if (owner !== undefined)
    return (named.get(owner) ?? tables.find((table) => table.name === owner))?.columns.map(ofColumn) ?? []
  const columns = new Map([...named.values()].flatMap((table) => table.columns.map((column) => [column.name, column])))
  return [...[...columns.values()].map(ofColumn), ...tables.map(toSuggestion), ...functions]
}

const toSuggestion = ({ name, about }: SqlTable): Suggestion => ({ label: name, kind: 'table', detail: 'table', about })
const ofColumn = ({ name, type, about }: SqlColumn): Suggestion => ({
  label: name,
  kind: 'column',
  detail: type,
  about,
})

/** The tables that a query names behind FROM and JOIN, by their names there. */
const tablesIn = (query: string, tables: readonly SqlTable[]): Map<string, SqlTable> => {
  const found = new Map<string, SqlTable>()
  for (const [, name = '', alias] of query.matchAll(
    /\b(?:from|join)\s+(?:weir\.)?(\w+)(?:\s*\([^)]*\))?(?:\s+(?:as\s+)?(\w+))?/gi,
  )) {
    const table = tables.find((each) => each.name.replace(/\(.*/, '') === name)
    if (!table) continue
    found.set(name, table)
    if (alias) found.set(alias, table)
  }
  return found
}

const described = (label: string, about: string): Suggestion => ({ label, kind: 'function', detail: 'function', about })

/** Those that the worked questions use and that are asked for most; ClickHouse has hundreds. */
const functions: Suggestion[] = [
  described('count', 'how many rows'),
  described('countIf', 'how many rows for which something is true'),
  described('sum', 'the sum; of decimals it is exact'),
  described('sumIf', 'the sum over rows for which something is true'),
  described('avg', 'the mean'),
  described('min', 'the smallest'),
  described('max', 'the largest'),
  described('uniqExact', 'how many different values'),
  described('uniq', 'how many different values, about'),
  described('quantile', 'quantile(0.9)(x): what nine of ten are below'),
  described('median', 'what half of them are below'),
  described('any', 'one of the values'),
  described('argMax', 'argMax(a, b): a of the row with the largest b'),
  described('argMin', 'argMin(a, b): a of the row with the smallest b'),
  described('groupArray', 'all values as a list'),
  described('topK', 'topK(5)(x): the commonest values, about'),
  described('round', 'round(x, 2): rounded to two decimals'),
  described('toDate', 'the day of a moment'),
  described('toStartOfWeek', 'toStartOfWeek(day, 1): the Monday'),
  described('toStartOfMonth', 'the first day of the month'),
  described('toStartOfHour', 'the hour that it is in'),
  described('dateDiff', "dateDiff('day', a, b): how many days from a to b"),
  described('formatDateTime', "formatDateTime(at, '%Y-%m'): a moment as text"),
  described('now', 'this moment'),
  described('today', 'this day, in UTC'),
  described('if', 'if(condition, then, else)'),
  described('multiIf', 'multiIf(condition, then, condition, then, else)'),
  described('ifNull', 'ifNull(x, y): y where x is null'),
  described('coalesce', 'the first that is not null'),
  described('length', 'how long a text or a list is'),
  described('lower', 'in small letters'),
  described('concat', 'texts one after another'),
  described('has', 'has(list, x): whether x is in the list'),
  described('arrayJoin', 'a row for each item of a list'),
  described('toString', 'as text'),
]
