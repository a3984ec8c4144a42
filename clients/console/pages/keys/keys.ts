import type { KeyListed, KeyMade, OrganisationListed } from '../../../typescript/src/endpoints.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Badge, Card, Code, Confirm, Empty, PageHead, Table, When } from '../../components/shown.js'
import { sentence } from '../../components/words.js'
import { Pager } from '../../frame/pager.js'
import type { PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { useState } from '../../vendor/hooks.js'
import type { VNode } from '../../vendor/preact.js'
import { IssueKey } from './issue.js'

/** For operators: who may send, and how much. */
export const KeysPage = ({ query }: PageProps): VNode => {
  const { ask, org } = useSession()
  const cursor = query.get('cursor')
  const keys = useAnswer<'/v1/operator/keys'>(
    `/v1/operator/keys?${new URLSearchParams({ org, limit: '200', ...(cursor && { cursor }) })}`,
  )
  // The organisation of exactly this id comes before the others that begin so.
  const organisations = useAnswer<'/v1/operator/organisations'>(
    `/v1/operator/organisations?${new URLSearchParams({ prefix: org, limit: '1' })}`,
  )
  const [fresh, setFresh] = useState<KeyMade>()
  const [problem, setProblem] = useState<string>()
  const limits = organisations.answer?.organisations.find((each) => each.org === org)

  const act = async <Answer>(path: string, method: 'POST' | 'PUT', body?: unknown): Promise<Answer | undefined> => {
    setProblem(undefined)
    try {
      return await ask<Answer>(`/v1/operator/${path}`, { method, body })
    } catch (error) {
      setProblem((error as Error).message)
      return undefined
    } finally {
      keys.reload()
      organisations.reload()
    }
  }
  const issue = async (wanted: unknown) => setFresh(await act<KeyMade>('keys', 'POST', wanted))
  const rotate = async ({ key_id }: KeyListed) =>
    setFresh(await act<KeyMade>(`keys/${encodeURIComponent(key_id)}/rotate`, 'POST', { grace_seconds: 86_400 }))
  const revoke = ({ key_id }: KeyListed) => act(`keys/${encodeURIComponent(key_id)}/revoke`, 'POST')
  return html`
    <${PageHead} title="Keys" about=${html`Keys and limits of <strong>${org}</strong>. Another organisation is chosen above.`} />
    ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
    <div role="status">${
      fresh &&
      html`<div class="notice good">
      <p><strong>The new key of ${fresh.org}.</strong> It is shown this once: copy it now.</p>
      <${Code} text=${fresh.key} label="The new key" />
      <button type="button" onClick=${() => setFresh(undefined)}>I have copied it</button>
    </div>`
    }</div>
    <${Asking} ...${keys} has=${keys.answer !== undefined} />
    ${keys.answer?.keys.length === 0 && html`<${Empty} title="This organisation has no key yet." command=${`npm run -s weir -- keys issue --org ${org}`} />`}
    ${
      keys.answer &&
      keys.answer.keys.length > 0 &&
      html`<${Card}>
      <${Table} label="Keys" head=${html`<th scope="col">Key</th><th scope="col">State</th><th scope="col">May</th><th scope="col">Last used</th><th scope="col">Issued</th><th scope="col">Expires</th><th scope="col"><span class="hidden">Actions</span></th>`}>
        ${keys.answer.keys.map(
          (key) => html`<tr key=${key.key_id}>
          <td class="mono small">${key.key_id}</td>
          <td><${Badge} state=${key.state} /></td>
          <td class="text small">${key.is_operator ? html`<strong>operator</strong>` : (key.scopes?.join(', ') ?? 'everything')}</td>
          <td><${When} at=${key.last_used_at} /></td>
          <td><${When} at=${key.created_at} /></td>
          <td>${key.expires_at ? html`<${When} at=${key.expires_at} />` : html`<span class="soft">does not</span>`}</td>
          <td>${
            key.state === 'active' &&
            !key.is_operator &&
            html`<div class="actions">
            <${Confirm} isDanger=${false} question="A new key is made; this one goes on for 24 hours." action="Rotate it" to=${key.key_id} onYes=${() => rotate(key)}>Rotate<//>
            <${Confirm} question="Nothing can be sent with it any more." action="Revoke it" to=${key.key_id} onYes=${() => revoke(key)}>Revoke<//>
          </div>`
          }</td>
        </tr>`,
        )}
      <//>
    <//>`
    }
    <${Pager} path=${['keys']} cursor=${cursor} next=${keys.answer?.next_cursor} words=${{ first: 'Oldest', next: 'Newer' }} />
    <div class="two">
      <${IssueKey} org=${org} onIssue=${issue} />
      ${limits && html`<${Limits} key=${`${org} ${limits.requests_per_second} ${limits.records_per_second}`} limits=${limits} onSet=${(wanted: unknown) => act(`organisations/${encodeURIComponent(org)}/limits`, 'PUT', wanted)} />`}
    </div>`
}

type LimitsProps = { limits: OrganisationListed; onSet: (limits: unknown) => Promise<unknown> }

const Limits = ({ limits, onSet }: LimitsProps): VNode => {
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
