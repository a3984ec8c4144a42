import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { html } from '../../components/html.js'
import { Card, Choose, Confirm } from '../../components/shown.js'
import { shownZone, zoneWords } from '../../components/time-zone.js'

/** A stretch of time, as the edge takes it. */
export type LogStretch = { since: string; until?: string }

/** Has all of a stretch of time delivered again: of the last hours, or from one moment to another. */
export const AgainAll = ({ onAgain }: { onAgain: (stretch: LogStretch) => void }): VNode => {
  const [chosen, setChosen] = useState('1')
  const [from, setFrom] = useState('')
  const [to, setTo] = useState('')
  const isOwn = chosen === 'own'
  const ready = !isOwn || (momentOf(from) !== undefined && (to === '' || momentOf(to) !== undefined))
  const yes = () => {
    const since = isOwn ? momentOf(from) : new Date(Date.now() - Number(chosen) * 3_600_000).toISOString()
    const until = isOwn ? momentOf(to) : undefined
    if (since) onAgain({ since, ...(until && { until }) })
  }
  const field = (label: string, value: string, take: (value: string) => void) => html`
    <label class="choose">${label} <input type="datetime-local" step="1" value=${value} onInput=${(event: Event) => take((event.target as HTMLInputElement).value)} /></label>`
  return html`<${Card} title="Deliver again">
    <p>After your receiver has lost something: in their order and under their ids, beside what is new. The log goes back 14 days, unless the operator says otherwise.</p>
    <div class="row">
      <${Choose} label="What was made" value=${chosen} options=${stretches} onChange=${setChosen} />
      ${isOwn && html`${field('From', from, setFrom)}${field('Until', to, setTo)}<span class="soft small">in ${zoneWords()}; no end means now</span>`}
    </div>
    <div class="actions">
      ${
        ready
          ? html`<${Confirm} isDanger=${false} question="All deliveries of this time are made again, also those that were taken." action="Deliver them" to="all of a time" onYes=${yes}>Deliver again<//>`
          : html`<button type="button" disabled>Deliver again</button>`
      }
    </div>
  <//>`
}

const stretches = [
  ['1', 'in the last hour'],
  ['24', 'in the last 24 hours'],
  ['168', 'in the last 7 days'],
  ['own', 'from … until …'],
] as const

/** What was chosen in the zone in which times are shown. */
const momentOf = (local: string): string | undefined => {
  const at = new Date(shownZone() === 'UTC' ? `${local}Z` : local)
  return local === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
