import { count } from '../report/goals.js'
import type { Table } from '../report/tables.js'
import type { MartFigures } from './measure.js'

/** The goal: a mart answers within so many milliseconds. */
export const within = 200

export const martTables = ({ transactions, least, asked, made, final }: MartFigures): Table[] => [
  {
    title: `Questions to ${count(transactions)} transactions; select 1 takes ${ms(least)} ms`,
    head: ['', 'records, ms', 'mart, ms', 'times as fast', `within ${within} ms`],
    rows: asked.map(({ name, bare, mart }) => [
      ...[name, ms(bare), ms(mart), (bare / mart).toFixed(1), mart <= within ? 'met' : 'not met'],
    ]),
  },
  {
    title: 'To make the rows of a mart anew, in seconds',
    head: ['', 'as a whole', 'after 1000 changed transactions'],
    rows: made.map(({ mart, whole, changed }) => [mart, whole.toFixed(1), changed.toFixed(1)]),
  },
  {
    title: 'To sum a table of newest versions, in ms',
    head: ['', 'rows', 'with final', 'without', 'times as long'],
    rows: final.map(({ table, rows, withFinal, without }) => [
      ...[table, count(rows), ms(withFinal), ms(without), (withFinal / without).toFixed(1)],
    ]),
  },
]

const ms = (value: number): string => value.toFixed(value < 10 ? 1 : 0)
