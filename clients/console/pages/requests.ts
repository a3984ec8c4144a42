import type { VNode } from 'preact'
import { useSession } from '../api/session.js'
import { html } from '../components/html.js'
import { NothingSent } from '../components/nothing-sent.js'
import { Asking, Badge, Card, Choose, PageHead, Table, When } from '../components/shown.js'
import { count } from '../components/words.js'
import { Pager } from '../frame/pager.js'
import { choiceIn, goTo, linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

const statuses = [
  ['', 'all'],
  ['accepted', 'accepted'],
  ['partial', 'partly'],
  ['refused', 'refused'],
  ['waiting', 'waiting'],
  ['pending', 'not decided yet'],
] as const

/** The latest requests, and what became of each. */
export const RequestsPage = ({ query }: PageProps): VNode => {
  const { types } = useSession()
  const names = types.map((each) => each.type)
  const status = choiceIn(
    query,
    'status',
    statuses.map(([value]) => value),
  )
  const type = choiceIn(query, 'type', names)
  const cursor = query.get('cursor')
  const asked = useAnswer<'/v1/requests'>(
    `/v1/requests?${new URLSearchParams({ limit: '50', ...(status && { status }), ...(type && { type }), ...(cursor && { cursor }) })}`,
    cursor ? {} : { every: 5_000 },
  )
  const requests = asked.answer?.requests
  const choose = (change: Record<string, string>) => goTo(linkTo(['requests'], { status, type, ...change }))
  return html`
    <${PageHead} title="Requests" about="What you sent, newest first.">
      <${Choose} label="Type" value=${type} onChange=${(chosen: string) => choose({ type: chosen })} options=${[['', 'all uploads'], ...names.map((each) => [each, each])]} />
    <//>
    <div class="tabs" role="group" aria-label="Status">
      ${statuses.map(([value, words]) => html`<button key=${value} type="button" aria-pressed=${status === value} onClick=${() => choose({ status: value })}>${words}</button>`)}
    </div>
    <${Asking} ...${asked} has=${requests !== undefined} />
    ${requests?.length === 0 && html`<${NothingSent} title=${status || type ? 'No request is of this kind.' : undefined} />`}
    ${
      requests &&
      requests.length > 0 &&
      html`<${Card}>
      <${Table} label="Requests" isCards head=${html`<th scope="col">Request</th><th scope="col">Type</th><th scope="col">When</th><th scope="col">Status</th><th scope="col" class="number">Records</th><th scope="col" class="number">Accepted</th><th scope="col" class="number">Refused</th><th scope="col" class="number">Waiting</th>`}>
        ${requests.map(
          (one) => html`<tr key=${one.request_id}>
          <td class="mono"><a href=${linkTo(['requests', one.request_id])}>${one.request_id}</a></td>
          <td>${one.type}</td>
          <td><${When} at=${one.decided_at ?? one.submitted_at} /></td>
          <td><${Badge} state=${one.status} words=${statuses.find(([value]) => value === one.status)?.[1] ?? one.status} /></td>
          <td class="number" data-label="records">${count(one.records)}</td>
          <td class="number accepted" data-label="accepted">${count(one.accepted)}</td>
          <td class=${one.refused > 0 ? 'number refused' : 'number soft'} data-label="refused">${count(one.refused)}</td>
          <td class=${one.waiting > 0 ? 'number waiting' : 'number soft'} data-label="waiting">${count(one.waiting)}</td>
        </tr>`,
        )}
      <//>
    <//>`
    }
    <${Pager} path=${['requests']} query=${{ status, type }} cursor=${cursor} next=${asked.answer?.next_cursor} words=${{ first: 'Newest', next: 'Older' }} />`
}
