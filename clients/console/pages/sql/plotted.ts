import type { SqlAnswer } from './run.js'

type Column = SqlAnswer['columns'][number]

// More bars than these nobody compares.
export const mostBars = 50

export const isNumber = ({ type }: Column): boolean =>
  /^(?:Nullable\(|LowCardinality\()*(?:U?Int|Float|Decimal)/.test(type)
export const isDay = ({ type }: Column): boolean => /^(?:Nullable\()?Date(?:32)?\b(?!Time)/.test(type)
const isMoment = ({ type }: Column): boolean => /^(?:Nullable\()?DateTime/.test(type)

/** What a plot shows: points in time, or things with a number each; or why it shows nothing. */
export type Plotted =
  | { kind: 'time'; at: number[]; values: (number | null)[] }
  | { kind: 'things'; things: { name: string; value: number; words: string }[]; left: number }
  | { kind: 'none'; why: string }

/** The columns that can be drawn along, and those that can be drawn. */
export const plottable = ({ columns }: Pick<SqlAnswer, 'columns'>): { along: string[]; drawn: string[] } => {
  const drawn = columns.filter(isNumber).map(({ name }) => name)
  // Days and moments first: most plots are along time.
  const along = [...columns].sort((one, other) => rank(one) - rank(other)).map(({ name }) => name)
  return { along: drawn.length > 0 ? along : [], drawn }
}
const rank = (column: Column): number => (isDay(column) || isMoment(column) ? 0 : isNumber(column) ? 2 : 1)

export const plotOf = ({ columns, rows }: Pick<SqlAnswer, 'columns' | 'rows'>, x: string, y: string): Plotted => {
  const [from, to] = [columns.findIndex(({ name }) => name === x), columns.findIndex(({ name }) => name === y)]
  const column = columns[from]
  if (!column || to === -1) return { kind: 'none', why: 'There is no such column.' }
  const values = rows.map((row) => numberOf(row[to]))
  if (values.some((value) => value !== null && value < 0))
    return { kind: 'none', why: `${y} has negative numbers, which are not drawn here.` }
  if (!isDay(column) && !isMoment(column)) {
    const things = rows.map((row, at) => ({
      name: wordsOfCell(row[from]),
      value: values[at] ?? 0,
      words: wordsOfCell(row[to]),
    }))
    return { kind: 'things', things: things.slice(0, mostBars), left: Math.max(0, things.length - mostBars) }
  }
  const points = rows
    .map((row, at) => ({ at: Date.parse(String(row[from])) / 1000, value: values[at] ?? null }))
    .filter(({ at }) => Number.isFinite(at))
    .sort((one, other) => one.at - other.at)
  if (points.some(({ at }, place) => at === points[place - 1]?.at))
    return { kind: 'none', why: `Several rows have the same ${x}: group the query by ${x} alone to draw it.` }
  return { kind: 'time', at: points.map(({ at }) => at), values: points.map(({ value }) => value) }
}

const numberOf = (value: unknown): number | null => {
  const number = value === null || value === '' ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}

/** A value as it is shown: a text as it is, a list or an object as JSON. */
export const wordsOfCell = (value: unknown): string =>
  value === null || value === undefined ? 'null' : typeof value === 'object' ? JSON.stringify(value) : String(value)
