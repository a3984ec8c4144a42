import type { OrganisationListed } from '../../../typescript/src/endpoints.js'
import { html } from '../../components/html.js'
import { Card } from '../../components/shown.js'
import { useState } from '../../vendor/hooks.js'
import type { VNode } from '../../vendor/preact.js'

type LimitsProps = { limits: OrganisationListed; onSet: (limits: unknown) => Promise<unknown> }

/** How much each key of an organisation may send. */
export const Limits = ({ limits, onSet }: LimitsProps): VNode => {
  const [requests, setRequests] = useState(asText(limits.requests_per_second))
  const [records, setRecords] = useState(asText(limits.records_per_second))
  const submit = (event: Event) => {
    event.preventDefault()
    void onSet({ requests_per_second: asNumber(requests), records_per_second: asNumber(records) })
  }
  const field = (id: string, label: string, value: string, take: (value: string) => void) => html`
    <label for=${id}>${label}</label>
    <input id=${id} type="text" inputmode="numeric" pattern="[0-9]*" value=${value} placeholder="what everybody gets" onInput=${(event: Event) => take((event.target as HTMLInputElement).value)} />`
  return html`<${Card} title="Limits">
    <form onSubmit=${submit}>
      ${field('limit-requests', 'Requests a second', requests, setRequests)}
      ${field('limit-records', 'Records a second', records, setRecords)}
      <p class="soft small">Empty: what everybody gets. 0: no limit. They hold on every edge within seconds.</p>
      <div class="actions"><button class="primary" type="submit">Set the limits</button></div>
    </form>
  <//>`
}

const asText = (limit: number | null): string => (limit === null ? '' : String(limit))
const asNumber = (text: string): number | null => (/^\d+$/.test(text.trim()) ? Number(text) : null)
