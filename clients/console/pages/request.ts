import type { VNode } from 'preact'
import type { BatchAnswer, Rejection } from '../../typescript/src/endpoints.js'
import { may, useSession } from '../api/session.js'
import { html } from '../components/html.js'
import { Asking, Badge, Card, Copyable, Json, PageHead, Problems, When } from '../components/shown.js'
import { linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

/** One request with its batches, and each refused record beside its reasons. */
export const RequestPage = ({ rest }: PageProps): VNode => {
  const { me } = useSession()
  const id = rest[0] ?? ''
  const asked = useAnswer<'/v1/requests/{request_id}'>(`/v1/requests/${encodeURIComponent(id)}`)
  // The answer tells the reasons; the records themselves are with the rejections.
  const refused = useAnswer<'/v1/rejections'>(
    may(me, 'rejections:read') ? `/v1/rejections?${new URLSearchParams({ request_id: id, limit: '200' })}` : undefined,
  )
  const byIndex = new Map(refused.answer?.rejections.map((one) => [one.index, one]))
  const request = asked.answer
  return html`
    <p class="small"><a href=${linkTo(['requests'])}>Requests</a></p>
    <${PageHead} title=${request ? `A request of ${request.type}` : 'A request'} record=${`Request ${id}`} about=${html`<${Copyable} text=${id} what="the request's id" />`}>
      <button type="button" onClick=${asked.reload}>Refresh</button>
    <//>
    <${Asking} ...${asked} has=${request !== undefined} />
    ${(refused.answer?.rejections.length ?? 0) > 0 && html`<p><a class="button" href=${linkTo(['rejected', 'group'], { request_id: id, type: request?.type })}>Mend its refused records, or have them tried again</a></p>`}
    ${request?.batches.map((batch) => html`<${Batch} key=${batch.batch} batch=${batch} requestId=${id} type=${request.type} byIndex=${byIndex} />`)}`
}

type BatchProps = { batch: BatchAnswer; requestId: string; type: string; byIndex: Map<number, Rejection> }

const Batch = ({ batch, requestId, type, byIndex }: BatchProps): VNode => {
  const { data } = batch
  const state = stateOf(batch)
  return html`
    <${Card} title=${html`Batch ${batch.batch} <${Badge} state=${state} words=${stateWords[state]} />`}>
      <p>${data.message}${data.batch_id && html` <span class="soft small"><${Copyable} text=${data.batch_id} what="the batch's id" /></span>`}</p>
      ${
        data.errors &&
        data.errors.length > 0 &&
        html`<h3>Refused</h3>
        ${data.errors.slice(0, 200).map(
          (error) => html`<div class="refused-record" key=${error.index}>
          <div><strong>${error.line === undefined ? `Record ${error.index}` : `Line ${error.line}`}</strong> ${error.id && html`<a class="mono small" href=${linkTo(['journey', type, error.id])}>${error.id}</a>`}<${Problems} problems=${error.problems} /></div>
          ${byIndex.has(error.index) && html`<${Json} value=${byIndex.get(error.index)?.record} label=${`Record ${error.index} as it was sent`} />`}
        </div>`,
        )}
        ${data.errors.length > 200 && html`<p class="soft">… and ${data.errors.length - 200} more, under <a href=${linkTo(['rejected', 'group'], { request_id: requestId, type, state: 'all' })}>its refused records</a>.</p>`}`
      }
      ${
        data.waiting &&
        data.waiting.length > 0 &&
        html`<h3>Waiting</h3><ul class="plain">
        ${data.waiting.map((one) => html`<li key=${one.index}>Record ${one.index} ${one.id && html`<a class="mono small" href=${linkTo(['journey', type, one.id])}>${one.id}</a>`} waits for ${one.for.map((each, index) => html`${index > 0 && ', '}${each.type} <code>${each.id}</code>`)}; its time ends <${When} at=${one.until} /></li>`)}
      </ul>`
      }
      ${
        data.waited &&
        data.waited.length > 0 &&
        html`<h3>Waited</h3><ul class="plain">
        ${data.waited.map((one) => html`<li key=${one.index}>Record ${one.index} <${Badge} state=${one.state} /> <${When} at=${one.at} /></li>`)}
      </ul>`
      }
    <//>`
}

const stateOf = ({ status, data }: BatchAnswer): string => {
  if (status === 200) return 'accepted'
  if (status === 202 || status === 500) return 'pending'
  if (status === 400) return 'refused'
  return data.errors && data.errors.length > 0 ? 'partial' : 'waiting'
}
const stateWords: Record<string, string> = {
  accepted: 'all accepted',
  pending: 'not decided yet',
  refused: 'all refused',
  partial: 'partly accepted',
  waiting: 'some wait',
}
