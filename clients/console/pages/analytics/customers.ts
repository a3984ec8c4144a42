import type { VNode } from 'preact'
import { html } from '../../components/html.js'
import { Table } from '../../components/shown.js'
import { count, percent } from '../../components/words.js'
import { Bars } from './bars.js'
import { MartCard } from './mart-card.js'
import { type AnalyticsProps, type AnsweredRow, numberOf, textOf, useMart } from './marts.js'
import { money } from './money.js'

/** How many customers each segment has. */
export const Segments = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'customer_segments', { by: 'segment', sum: 'monetary,frequency', order: '-rows' })
  return html`<${MartCard} title="Segments" asked=${asked} about="Customers who have bought, by how lately, how often and for how much." empty="No customer has bought anything: upload customers, and transactions that name them as students.">${(
    rows: readonly AnsweredRow[],
  ) => {
    const all = rows.reduce((sum, row) => sum + numberOf(row.rows), 0)
    const bars = rows.map((row) => {
      const name = textOf(row.segment)
      const size = numberOf(row.rows)
      return {
        ...{ key: name, label: name, name, value: size, words: `${count(size)} customers` },
        ...{ note: `${percent(size / all)}, paid ${money(textOf(row.monetary))}` },
      }
    })
    return html`<${Bars} bars=${bars} />`
  }}<//>`
}

// A year of cohorts, each followed for a year, is what fits on a screen.
const most = 12

/** Who came back: a line for each month of first purchases, the more colour a cell has the more of them bought again. */
export const Cohorts = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'cohorts', { order: '-cohort' })
  return html`<${MartCard} title="Cohorts" asked=${asked} isTop about="Of the customers who first bought in a month, how many bought again in the months after it." empty="Nobody has bought anything: upload transactions that name a student.">${(
    rows: readonly AnsweredRow[],
  ) => {
    const cohorts = [...new Set(rows.map(({ cohort }) => textOf(cohort)))].sort().reverse().slice(0, most)
    const shown = rows.filter(({ cohort }) => cohorts.includes(textOf(cohort)))
    const months = Math.min(most, Math.max(...shown.map(({ month }) => numberOf(month))))
    const cellOf = (cohort: string, month: number) =>
      shown.find((row) => textOf(row.cohort) === cohort && numberOf(row.month) === month)
    const heads = Array.from({ length: months }, (_, before) => before + 1)
    return html`<${Table} label="Cohorts" hasCsv=${false} head=${html`<th scope="col">First bought in</th><th scope="col" class="number">Customers</th>${heads.map((month) => html`<th key=${month} scope="col" class="number">+${month}</th>`)}`}>
      ${cohorts.map(
        (cohort) => html`<tr key=${cohort}><th scope="row" class="nowrap">${cohort.slice(0, 7)}</th>
        <td class="number">${count(numberOf(cellOf(cohort, 0)?.customers))}</td>
        ${heads.map((month) => html`<${CohortCell} key=${month} row=${cellOf(cohort, month)} isPast=${isPast(cohort, month)} />`)}</tr>`,
      )}
    <//>`
  }}<//>`
}

const CohortCell = ({ row, isPast }: { row: AnsweredRow | undefined; isPast: boolean }): VNode => {
  if (!row) return html`<td class="number soft">${isPast ? '0 %' : ''}</td>`
  const share = numberOf(row.retention)
  const words = `${count(numberOf(row.active))} of ${count(numberOf(row.customers))} customers`
  return html`<td class=${`number shade-${Math.min(5, Math.ceil(share * 10))}`} title=${words}>${percent(share)}</td>`
}

/** Whether the month has begun: where nobody bought in it, that is known. */
const isPast = (cohort: string, month: number): boolean => {
  const first = new Date(cohort)
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + month) <= Date.now()
}
