import type { ComponentChildren, VNode } from 'preact'
import { csvLine, harmless } from '../../../typescript/src/files/refused-csv.js'
import { html } from '../../components/html.js'
import { Asking, Card, Code, Table } from '../../components/shown.js'
import { asText, count } from '../../components/words.js'
import { save } from '../../rows/refused-file.js'
import type { AnsweredRow, MartAnswer } from './marts.js'

type MartCardProps = {
  title: string
  about?: ComponentChildren
  asked: MartAnswer
  /** What to say where there are no rows. */
  empty: ComponentChildren
  /** Whether there is nothing to be seen in the rows; by default where there are none. */
  isEmpty?: (rows: readonly AnsweredRow[]) => boolean
  /** Whether only the first rows are wanted, so that more of them are nothing to speak of. */
  isTop?: boolean
  children: (rows: readonly AnsweredRow[]) => ComponentChildren
}

/** What a mart answers, drawn by `children`; below it the same as a table, as a file and as the query to go on with in ClickHouse. */
export const MartCard = (props: MartCardProps): VNode => {
  const { title, about, asked, empty, isEmpty = (rows) => rows.length === 0, isTop, children } = props
  const { answer, passedOver } = asked
  const hasRows = answer !== undefined && !isEmpty(answer.rows)
  return html`<${Card} title=${html`${title}${passedOver && html` <span class="soft small of-all">${passedOver}</span>`}`}>
    ${about && html`<p class="soft small">${about}</p>`}
    <${Asking} ...${asked} has=${answer !== undefined} />
    ${answer && !hasRows && (typeof empty === 'string' ? html`<p class="soft">${empty}</p>` : empty)}
    ${
      answer &&
      hasRows &&
      html`
      ${answer.truncated && !isTop && html`<p class="notice">There is more than this page shows: choose a shorter time, or go on in ClickHouse with the SQL below.</p>`}
      ${children(answer.rows)}
      <${Foot} title=${title} answer=${answer} />`
    }
  <//>`
}

// More rows than that nobody reads on a page; the file has all of them.
const mostShown = 200

const Foot = ({ title, answer }: { title: string; answer: NonNullable<MartAnswer['answer']> }): VNode => {
  const { columns, rows, sql } = answer
  const shown = rows.slice(0, mostShown)
  const download = () => saveRows(`${title}.csv`, answer)
  return html`<div class="foot small">
    <details><summary>The same as a table</summary>
      <${Table} label=${`${title} as a table`} hasCsv=${false} head=${columns.map(({ name, type, about }) => html`<th key=${name} scope="col" title=${about} class=${isNumber(type) ? 'number' : ''}>${name.replaceAll('_', ' ')}</th>`)}>
        ${shown.map((row, index) => html`<tr key=${index}>${columns.map(({ name, type }) => html`<td key=${name} class=${classOf(type)}>${cell(row[name])}</td>`)}</tr>`)}
      <//>
      ${rows.length > shown.length && html`<p class="soft">The first ${count(shown.length)} of ${count(rows.length)} rows; the file has all of them.</p>`}
    </details>
    <details><summary>SQL</summary><${Code} text=${sql} label=${`SQL: ${title}`} /></details>
    <button class="link" type="button" aria-label=${`Download as CSV: ${title}`} onClick=${download}>Download as CSV</button>
  </div>`
}

/** Rows as a file of CSV. */
export const saveRows = (
  file: string,
  { columns, rows }: Pick<NonNullable<MartAnswer['answer']>, 'columns' | 'rows'>,
) => {
  const lines = [columns.map(({ name }) => name), ...rows.map((row) => columns.map(({ name }) => asText(row[name])))]
  const text = lines.map((cells) => csvLine(cells.map(harmless))).join('')
  save(file, new Blob([text], { type: 'text/csv' }))
}

const isNumber = (type: string): boolean => /^(Nullable\()?(U?Int|Decimal|Float)/.test(type)
const classOf = (type: string): string => (isNumber(type) ? 'number' : type.includes('UUID') ? 'mono' : '')

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'number') return value.toLocaleString('en-GB', { maximumFractionDigits: 4 })
  return Array.isArray(value) ? value.join(', ') : String(value)
}
