import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { AwaitedRecord } from '../../typescript/src/endpoints.js'
import { may, useSession } from '../api/session.js'
import { html } from '../components/html.js'
import { Asking, Card, Confirm, Empty, PageHead, Table, When } from '../components/shown.js'
import { count, records, sentence } from '../components/words.js'
import { Pager } from '../frame/pager.js'
import { linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

/** Records that wait for others: what is missing, by how many wait behind it. */
export const WaitingPage = ({ query }: PageProps): VNode => {
  const { weir, me, org } = useSession()
  const cursor = query.get('cursor')
  const path = `/v1/waiting?limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`
  const asked = useAnswer<'/v1/waiting'>(path, { every: 10_000 })
  const [outcome, setOutcome] = useState<string>()
  const missing = asked.answer && [...asked.answer.missing].sort((a, b) => b.waiting - a.waiting)
  const mayCancel = may(me, 'waiting:write') && org === me.org_id

  const cancel = async ({ type, id }: AwaitedRecord) => {
    try {
      const sum = await weir.waiting.cancel({ missing_type: type, missing_id: id }, { giveUpAfterMs: 60_000 })
      setOutcome(`${records(sum)} no longer ${sum === 1 ? 'waits' : 'wait'}`)
    } catch (error) {
      setOutcome((error as Error).message)
    }
    asked.reload()
  }
  return html`
    <${PageHead} title="Waiting" about=${asked.answer ? `${records(asked.answer.waiting)} ${asked.answer.waiting === 1 ? 'waits' : 'wait'} for others to be uploaded. Upload what is missing, and the rest happens by itself.` : 'Records that wait for others to be uploaded.'}>
      <button type="button" onClick=${asked.reload}>Refresh</button>
    <//>
    <div role="status">${outcome && html`<p class="notice">${sentence(outcome)}</p>`}</div>
    <${Asking} ...${asked} has=${missing !== undefined} />
    ${missing?.length === 0 && html`<${Empty} title="Nothing waits."><p>Records that refer to something not uploaded yet are refused, unless they are sent so that they wait: at <a href=${linkTo(['upload'])}>Upload</a> by a tick; over HTTP by <code>?missing_references=wait</code>; with the uploader by <code>--wait 24h</code> (see <a href="/downloads/">downloads</a>).</p><//>`}
    ${
      missing &&
      missing.length > 0 &&
      html`<${Card}>
      <${Table} label="What is missing" head=${html`<th scope="col">Missing</th><th scope="col">Id</th><th scope="col" class="number">Wait for it</th><th scope="col">Since</th><th scope="col">The first gives up</th><th scope="col">Such as</th>${mayCancel && html`<th scope="col"><span class="hidden">Actions</span></th>`}`}>
        ${missing.map(
          (one) => html`<tr key=${`${one.type} ${one.id}`}>
          <td>${one.type}</td>
          <td class="mono small"><a href=${linkTo(['journey', one.type, one.id])}>${one.id}</a></td>
          <td class="number waiting">${count(one.waiting)}</td>
          <td><${When} at=${one.oldest} /></td>
          <td><${When} at=${one.first_until} /></td>
          <td class="small">${one.sample.slice(0, 3).map((each, index) => html`<div key=${index}>${each.type} ${each.id ? html`<a class="mono" href=${linkTo(['journey', each.type, each.id])}>${each.id.slice(0, 8)}…</a>` : ''}${each.field && html` in <code>${each.field}</code>`}</div>`)}</td>
          ${mayCancel && html`<td><${Confirm} question=${`Cancel ${records(one.waiting)}? They are not accepted then.`} action="Cancel them" to=${`what waits for ${one.type} ${one.id}`} onYes=${() => cancel(one)}>Cancel<//></td>`}
        </tr>`,
        )}
      <//>
    <//>`
    }
    <${Pager} path=${['waiting']} cursor=${cursor} next=${asked.answer?.next_cursor} words=${{ first: 'First', next: 'More' }} />`
}
