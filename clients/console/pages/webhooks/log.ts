import type { VNode } from 'preact'
import type { WebhookDelivery } from '../../../typescript/src/endpoints.js'
import { html } from '../../components/html.js'
import { Badge, Copyable, Empty, Table, When } from '../../components/shown.js'
import { count } from '../../components/words.js'

type LogProps = {
  deliveries: readonly WebhookDelivery[]
  /** What to say where there are none. */
  none: string
  /** Undefined where nothing can be delivered again. */
  onAgain: ((delivery: WebhookDelivery) => void) | undefined
}

/** What was delivered, or is to be, and what was answered. */
export const DeliveryLog = ({ deliveries, none, onAgain }: LogProps): VNode => {
  if (deliveries.length === 0) return html`<${Empty} title=${none} />`
  return html`
  <${Table} label="Deliveries" isCards head=${html`<th scope="col">Event</th><th scope="col">State</th><th scope="col">When</th><th scope="col" class="number">Records</th><th scope="col">What was answered</th>${onAgain && html`<th scope="col"><span class="hidden">Actions</span></th>`}`}>
    ${deliveries.map(
      (one) => html`<tr key=${one.delivery_id}>
      <td><code>${one.event}</code></td>
      <td><${Badge} state=${one.state} /></td>
      <td><${When} at=${one.created_at} /></td>
      <td class="number" data-label="records">${one.records === null ? html`<span class="soft">–</span>` : count(one.records)}</td>
      <td class="text"><${Attempts} of=${one} /></td>
      ${onAgain && html`<td>${one.state !== 'pending' && one.event !== 'test' && html`<button type="button" aria-label=${`Deliver again ${one.delivery_id}`} onClick=${() => onAgain(one)}>Deliver again</button>`}</td>`}
    </tr>`,
    )}
  <//>`
}

type Attempt = WebhookDelivery['tried'][number]

/** The last attempt in a line; all of them once it is opened. */
const Attempts = ({ of: { tried, attempts, state, delivery_id } }: { of: WebhookDelivery }): VNode => {
  const last = tried.at(-1)
  const words = last ? attemptWords(last) : state === 'failed' ? 'given up before it was tried' : 'not tried yet'
  return html`<details>
    <summary>${words}${attempts > 1 && html` <span class="soft small">· ${count(attempts)} attempts</span>`}</summary>
    <p class="small soft">webhook-id <${Copyable} text=${delivery_id} what="the id of the delivery" /></p>
    ${attempts > tried.length && html`<p class="small soft">The last ${tried.length} of ${count(attempts)} attempts:</p>`}
    <ol class="plain">${tried.map((each, index) => html`<li key=${index} class="small"><${When} at=${each.at} />: ${attemptWords(each)}${each.answer && html`<div><code>${shorten(each.answer)}</code></div>`}</li>`)}</ol>
  </details>`
}

/** What came of an attempt: a status, or why none came; and how long it took, unless nothing was sent. */
export const attemptWords = ({ status, ms, problem }: Attempt): string => {
  const took = `${count(ms)} ms`
  if (status !== null) return `${status} after ${took}`
  return `${problem ?? 'no answer'}${ms > 0 ? ` (${took})` : ''}`
}

const shorten = (answer: string): string => (answer.length > mostShown ? `${answer.slice(0, mostShown)}…` : answer)
const mostShown = 300
