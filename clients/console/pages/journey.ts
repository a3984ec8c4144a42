import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Journey, JourneyStep } from '../../typescript/src/endpoints.js'
import { useSession } from '../api/session.js'
import { Graph, type GraphEdge, type GraphNode } from '../components/graph.js'
import { html } from '../components/html.js'
import { Asking, Card, Choose, Copyable, Empty, Json, PageHead, Problems } from '../components/shown.js'
import { count, inline, moment, toneOf } from '../components/words.js'
import { goTo, linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

/** Everything that happened to one record, from the request it came in to its row, and what it is tied to. */
export const JourneyPage = ({ rest: [type, id] }: PageProps): VNode => {
  const asked = useAnswer<'/v1/data/{type}/{id}/journey'>(
    type && id ? `/v1/data/${encodeURIComponent(type)}/${encodeURIComponent(id)}/journey` : undefined,
    { every: 5_000 },
  )
  const journey = asked.answer
  return html`
    <${PageHead} title="A record's journey" record=${type && id ? `${type} ${id}` : undefined} about=${type && id ? html`${type} <${Copyable} text=${id} what="the id" />` : 'Everything that happened to one record: when it came, what was decided, where it is now.'} />
    <${Find} type=${type} id=${id} />
    ${type && id && html`<${Asking} ...${asked} has=${journey !== undefined} />`}
    ${
      journey &&
      html`<div class="two">
      <${Card} title="Time line">
        <ol class="timeline">${journey.steps.map((step, index) => html`<${Step} key=${index} step=${step} />`)}</ol>
      <//>
      <${Ties} journey=${journey} />
    </div>`
    }
    ${!id && html`<${Empty} title="Which record?"><p>Give its type and id, or follow a link from <a href=${linkTo(['requests'])}>Requests</a> or <a href=${linkTo(['rejected'])}>Rejected</a>.</p><//>`}`
}

const Find = ({ type, id }: { type: string | undefined; id: string | undefined }): VNode => {
  const { types } = useSession()
  const [chosen, setChosen] = useState(type ?? types[0]?.type ?? '')
  const [text, setText] = useState(id ?? '')
  const submit = (event: Event) => {
    event.preventDefault()
    if (text.trim() !== '') goTo(linkTo(['journey', chosen, text.trim()]))
  }
  return html`<form class="row find" onSubmit=${submit} role="search" aria-label="Find a record">
    <${Choose} label="Type" value=${chosen} onChange=${setChosen} options=${types.map((each) => [each.type, each.type])} />
    <label class="choose grow">Id <input type="text" value=${text} placeholder="3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b" spellcheck=${false} autocomplete="off"
      onInput=${(event: Event) => setText((event.target as HTMLInputElement).value)} /></label>
    <button class="primary" type="submit">Show</button>
  </form>`
}

const titles: Record<string, string> = {
  received: 'Received',
  waited: 'Waited',
  accepted: 'Accepted',
  refused: 'Refused',
  published: 'On the topic',
  stored: 'In ClickHouse',
  changed: 'Changed',
  deleted: 'Deleted',
  superseded: 'Replaced by a newer one',
  cancelled: 'Waiting cancelled',
  expired: 'Its time to wait ran out',
}

const Step = ({ step }: { step: JourneyStep }): VNode => html`
  <li class=${toneOf(step.kind)}>
    <div class="line"><strong>${titles[step.kind] ?? step.kind}</strong> <time class="soft small" datetime=${step.at} title=${step.at}>${moment(step.at)}</time></div>
    <p>${step.words}</p>
    ${step.problems && html`<${Problems} problems=${step.problems} />`}
    ${
      step.changes &&
      step.changes.length > 0 &&
      html`<table class="changes"><caption class="hidden">What changed</caption><thead><tr><th scope="col">field</th><th scope="col">before</th><th scope="col">after</th></tr></thead><tbody>
      ${step.changes.map(({ field, before, after }) => html`<tr key=${field}><th scope="row"><code>${field}</code></th><td><del>${inline(before)}</del></td><td><ins>${inline(after)}</ins></td></tr>`)}
    </tbody></table>`
    }
    <p class="soft small places">
      ${step.request_id && html`<a href=${linkTo(['requests', step.request_id])}>request</a> `}
      ${step.batch_id && html`<span>batch <${Copyable} text=${step.batch_id} what="the batch's id" /></span> `}
      ${step.key_id && html`<span>key <${Copyable} text=${step.key_id} what="the key's id" /></span> `}
      ${step.topic && html`<span><code>${step.topic}</code>${step.partition !== undefined && ` partition ${step.partition}`}${step.offset !== undefined && `, offset ${step.offset}`}</span> `}
      ${step.version !== undefined && html`<span>version <code>${step.version}</code></span>`}
    </p>
    ${step.row && html`<details><summary>The row</summary><${Json} value=${step.row} label="The row in ClickHouse" /></details>`}
  </li>`

/** What the record refers to and what refers to it, as a graph to walk along. */
const Ties = ({ journey }: { journey: Journey }): VNode => {
  const { refers_to: to, referred_by: by } = journey
  if (to.length === 0 && by.length === 0)
    return html`<${Card} title="What it is tied to"><p class="soft">It refers to nothing, and nothing refers to it.</p><//>`
  const middle = by.length > 0 ? 1 : 0
  const self: GraphNode = { id: 'self', label: journey.type, note: journey.id, column: middle, tone: 'self' }
  const before = by.map(
    ({ type, count: number, sample }): GraphNode => ({
      id: `by ${type}`,
      label: type,
      note: `${count(number)} refer to it`,
      column: 0,
      ...(sample[0] && { href: linkTo(['journey', type, sample[0]]) }),
    }),
  )
  const after = to.map(
    ({ field, type, id, exists }): GraphNode => ({
      id: `to ${field}`,
      label: type,
      note: exists ? field : `${field}: not there`,
      column: middle + 1,
      tone: exists ? '' : 'refused',
      href: linkTo(['journey', type, id]),
    }),
  )
  const edges: GraphEdge[] = [
    ...before.map(({ id }) => ({ from: id, to: 'self' })),
    ...after.map(({ id }) => ({ from: 'self', to: id })),
  ]
  return html`
    <${Card} title="What it is tied to">
      <${Graph} title="Records that it is tied to" nodes=${[...before, self, ...after]} edges=${edges} />
      ${to.length > 0 && html`<h3>It refers to</h3><ul class="plain">${to.map(({ field, type, id, exists }) => html`<li key=${field}><code>${field}</code> → ${type} <a class="mono small" href=${linkTo(['journey', type, id])}>${id}</a>${!exists && html` <span class="refused">not there</span>`}</li>`)}</ul>`}
      ${by.length > 0 && html`<h3>What refers to it</h3><ul class="plain">${by.map(({ type, count: number, sample }) => html`<li key=${type}>${count(number)} of ${type}, such as ${sample.slice(0, 3).map((id, index) => html`${index > 0 && ', '}<a class="mono small" href=${linkTo(['journey', type, id])}>${id}</a>`)}</li>`)}</ul>`}
    <//>`
}
