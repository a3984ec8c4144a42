import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { KeyListed, KeyMade, OrganisationListed } from '../../../typescript/src/endpoints.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { type JustDone, WhatWasDone } from '../../components/just-done.js'
import { Asking, Card, Empty, PageHead } from '../../components/shown.js'
import { count, sentence } from '../../components/words.js'
import { Pager } from '../../frame/pager.js'
import { linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { IssueKey, type KeyOrdered } from './issue.js'
import { ActiveKeys, EndedKeys } from './lists.js'

/** Who may send: the keys of one's own organisation, or for operators those of any, and how much they may send. */
export const KeysPage = ({ query }: PageProps): VNode => {
  const { ask, org, me } = useSession()
  const cursor = query.get('cursor')
  const base = me.is_operator ? '/v1/operator/keys' : '/v1/keys'
  const pathOf = (state: string, more: Record<string, string>) =>
    `${base}?${new URLSearchParams({ ...(me.is_operator && { org }), state, limit: '200', ...more })}`
  const active = useAnswer<'/v1/keys'>(pathOf('active', cursor ? { cursor } : {}))
  const ended = useAnswer<'/v1/keys'>(pathOf('ended', {}))
  // The organisation of exactly this id comes before the others that begin so.
  const organisations = useAnswer<'/v1/operator/organisations'>(
    me.is_operator ? `/v1/operator/organisations?${new URLSearchParams({ prefix: org, limit: '1' })}` : undefined,
  )
  const [done, setDone] = useState<JustDone>()
  const [problem, setProblem] = useState<string>()
  const limits = organisations.answer?.organisations.find((each) => each.org === org)

  const act = async <Answer>(
    path: string,
    method: 'POST' | 'PUT' | 'PATCH',
    body: unknown,
    doneOf: (answer: Answer) => JustDone,
  ): Promise<boolean> => {
    setProblem(undefined)
    try {
      setDone(doneOf(await ask<Answer>(path, { method, body })))
      return true
    } catch (error) {
      setDone(undefined)
      setProblem((error as Error).message)
      return false
    } finally {
      active.reload()
      ended.reload()
      organisations.reload()
    }
  }
  const at = ({ key_id }: KeyListed) => `${base}/${encodeURIComponent(key_id)}`
  const issue = (wanted: KeyOrdered) =>
    act<KeyMade>(base, 'POST', wanted, (made) => ({
      words: `The key ${calledOf(made)} of ${made.org} is made.`,
      secret: secretOf(made),
    }))
  const rotate = (key: KeyListed) =>
    act<KeyMade>(`${at(key)}/rotate`, 'POST', { grace_seconds: 86_400 }, (made) => ({
      words: `The key ${made.key_id} is made in place of ${calledOf(key)}, which goes on for 24 hours.`,
      secret: secretOf(made),
    }))
  const revoke = (key: KeyListed) =>
    act(`${at(key)}/revoke`, 'POST', {}, () => ({
      words: `The key ${calledOf(key)} is revoked.`,
    }))
  const rename = (key: KeyListed, name: string | null) =>
    act(at(key), 'PATCH', { name }, () => ({
      words: name ? `The key ${key.key_id} is called ${name} now.` : `The key ${key.key_id} has no name now.`,
    }))
  const limit = (wanted: unknown) =>
    act(`/v1/operator/organisations/${encodeURIComponent(org)}/limits`, 'PUT', wanted, () => ({
      words: `The limits of ${org} are set.`,
    }))

  const about = me.is_operator
    ? html`Keys and limits of <strong>${org}</strong>. Another organisation is chosen above.`
    : html`Keys of <strong>${org}</strong>. None may do more than the one that made it.`
  return html`
    <${PageHead} title="Keys" about=${about}><a class="button" href=${linkTo(['audit'])}>What was done</a><//>
    ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
    ${done && html`<${WhatWasDone} done=${done} onSeen=${() => setDone(undefined)} />`}
    <${Asking} ...${active} has=${active.answer !== undefined} />
    ${active.answer?.keys.length === 0 && html`<${Empty} title="This organisation has no key that may be used." />`}
    ${
      active.answer &&
      active.answer.keys.length > 0 &&
      html`<${Card}><${ActiveKeys} keys=${active.answer.keys} own=${me.key_id} onRotate=${rotate} onRevoke=${revoke} onRename=${rename} /><//>`
    }
    <${Pager} path=${['keys']} cursor=${cursor} next=${active.answer?.next_cursor} words=${{ first: 'Oldest', next: 'Newer' }} />
    ${
      ended.answer &&
      ended.answer.keys.length > 0 &&
      html`<details class="folded"><summary>Revoked and expired (${ended.answer.next_cursor ? 'more than ' : ''}${count(ended.answer.keys.length)})</summary>
      <${Card}><${EndedKeys} keys=${ended.answer.keys} /><//>
    </details>`
    }
    <div class="two">
      <${IssueKey} org=${org} onIssue=${issue} />
      ${limits && html`<${Limits} key=${`${org} ${limits.requests_per_second} ${limits.records_per_second}`} limits=${limits} onSet=${limit} />`}
    </div>
    <p class="soft small">Keys are for programs and teams: for people's accounts and single sign-on, put the console behind a proxy that has them, such as oauth2-proxy.</p>`
}

const secretOf = ({ key }: KeyMade) => ({
  about: 'Its text is shown this once: copy it now.',
  text: key,
  label: 'The new key',
})

const calledOf = ({ key_id, name }: Pick<KeyListed, 'key_id' | 'name'>): string =>
  name ? `${name} (${key_id})` : key_id

type LimitsProps = { limits: OrganisationListed; onSet: (limits: unknown) => Promise<unknown> }

/** How much each key of an organisation may send. */
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
