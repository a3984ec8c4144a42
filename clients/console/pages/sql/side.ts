import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { html } from '../../components/html.js'
import { Card } from '../../components/shown.js'
import { examples } from './examples.js'
import type { SqlTable } from './tables.js'

type TablesProps = { tables: readonly SqlTable[]; onInsert: (name: string) => void }

/** What there is to ask, with what each column means. */
export const Tables = ({ tables, onInsert }: TablesProps): VNode => {
  const [wanted, setWanted] = useState('')
  const words = wanted.trim().toLowerCase()
  const found = tables.filter(
    ({ name, columns }) => name.includes(words) || columns.some((column) => column.name.includes(words)),
  )
  return html`<${Card} title="Tables">
    <label>Look for <input type="search" value=${wanted} placeholder="table or column" onInput=${(event: Event) => setWanted((event.target as HTMLInputElement).value)} /></label>
    ${found.length === 0 && html`<p class="soft">No table and no column has this in its name.</p>`}
    <div class="tables">${found.map(
      ({ name, about, columns }) => html`<details key=${name}>
        <summary><code>${name}</code></summary>
        <p class="small">${about}</p>
        <p><button type="button" aria-label=${`Insert the name ${name}`} onClick=${() => onInsert(name)}>Insert the name</button></p>
        <dl class="small">${columns.map((column) => html`<dt key=${column.name}><code>${column.name}</code> <span class="soft">${column.type}</span></dt><dd>${column.about}</dd>`)}</dl>
      </details>`,
    )}</div>
  <//>`
}

/** The worked questions of the page for analysts, to begin with. */
export const Examples = ({ org, onOpen }: { org: string; onOpen: (sql: string) => void }): VNode => html`
  <${Card} title="Questions to begin with">
    <ul class="plain saved">${examples.map(
      ({ question, sql }) =>
        html`<li key=${question}><button class="link" type="button" onClick=${() => onOpen(sql.replaceAll("'demo'", `'${org}'`))}>${question}</button></li>`,
    )}</ul>
  <//>`
