import type { ComponentChildren, VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { csvLine, harmless } from '../../typescript/src/files/refused-csv.js'
import { save } from '../rows/refused-file.js'
import { html } from './html.js'

type TableProps = {
  label: string
  head: ComponentChildren
  /** On a phone each row becomes a card: its cells below each other, with their `data-label` before them. */
  isCards?: boolean
  /** Whether its rows can be downloaded. */
  hasCsv?: boolean
  children?: ComponentChildren
}

/** A wide table scrolls within itself; with the keyboard too, for which it has to take the focus. */
export const Table = ({ label, head, isCards = false, hasCsv = true, children }: TableProps): VNode => {
  const table = useRef<HTMLTableElement>(null)
  const download = () => {
    if (table.current) save(`${label}.csv`, new Blob([csvOf(table.current)], { type: 'text/csv' }))
  }
  return html`
    <div class=${isCards ? 'table cards' : 'table'} role="region" aria-label=${label} tabindex="0"><table ref=${table}><thead><tr>${head}</tr></thead><tbody>${children}</tbody></table></div>
    ${hasCsv && html`<p class="small"><button class="link" type="button" aria-label=${`Download as CSV: ${label}`} onClick=${download}>Download as CSV</button></p>`}`
}

/** The rows as they are shown, times in full; what a spreadsheet would run is made harmless. Columns of buttons are left out. */
const csvOf = (table: HTMLTableElement): string => {
  const [head, ...rows] = [...table.rows]
  const kept = [...(head?.cells ?? [])].map((cell) => cell.querySelector('.hidden') === null)
  return [head, ...rows]
    .map((row) =>
      csvLine([...(row?.cells ?? [])].filter((_, at) => kept[at] !== false).map((cell) => harmless(textOf(cell)))),
    )
    .join('')
}

const textOf = (cell: HTMLTableCellElement): string => {
  const time = cell.querySelector('time')
  if (time && cell.textContent === time.textContent) return time.dateTime
  const lines = [...cell.querySelectorAll('div')].map((each) => each.textContent)
  const text = lines.length > 0 ? lines.join('; ') : cell.textContent
  return cell.classList.contains('number') ? text.replaceAll(',', '') : text.trim()
}
