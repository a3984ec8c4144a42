import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { html } from '../../components/html.js'
import { Card, Table } from '../../components/shown.js'
import { count } from '../../components/words.js'
import { Plot } from './plot.js'
import { isNumber, wordsOfCell } from './plotted.js'
import { downloads, type SqlAnswer } from './run.js'

// As many as a browser draws at once without a pause.
const page = 200

type ResultProps = {
  answer: SqlAnswer
  isBusy: boolean
  onDownload: (kind: keyof typeof downloads) => void
}

/** The rows of an answer as a table or a plot, and all of them as a download. */
export const Result = ({ answer, isBusy, onDownload }: ResultProps): VNode => {
  const [shown, setShown] = useState(page)
  const [view, setView] = useState<'table' | 'plot'>('table')
  const { columns, rows, truncated, rows_read: read, seconds } = answer
  const tab = (name: 'table' | 'plot', words: string) =>
    html`<button type="button" aria-pressed=${view === name} onClick=${() => setView(name)}>${words}</button>`
  const download = (kind: keyof typeof downloads) =>
    html`<button type="button" disabled=${isBusy} onClick=${() => onDownload(kind)}>Download as ${downloads[kind].words}</button>`
  return html`<${Card} title="Result">
    <p class="soft small" role="status">${truncated ? 'The first ' : ''}${count(rows.length)} ${rows.length === 1 ? 'row' : 'rows'} in ${seconds} s${read !== null && `, for which ${count(read)} were read`}.
      ${truncated && html` <strong>There are more:</strong> a download has all of them.`}</p>
    <div class="row"><div class="tabs" role="group" aria-label="Show as">${tab('table', 'Table')}${tab('plot', 'Plot')}</div>${download('csv')}${download('parquet')}</div>
    ${
      view === 'plot'
        ? html`<${Plot} answer=${answer} />`
        : rows.length === 0
          ? html`<p class="soft">The query ran, and no row is in its result.</p>`
          : html`<${Table} label="Result" hasCsv=${false} head=${columns.map((column) => html`<th scope="col" class=${isNumber(column) ? 'number' : ''}>${column.name}<br /><span class="soft small">${column.type}</span></th>`)}>
          ${rows.slice(0, shown).map((row, at) => html`<tr key=${at}>${row.map((cell, place) => html`<td class=${columns[place] && isNumber(columns[place]) ? 'number' : ''}>${cell === null ? html`<span class="soft">null</span>` : wordsOfCell(cell)}</td>`)}</tr>`)}
        <//>
        ${rows.length > shown && html`<p><button type="button" onClick=${() => setShown(shown + page)}>Show ${Math.min(page, rows.length - shown)} more of ${count(rows.length)} rows</button></p>`}`
    }
  <//>`
}
