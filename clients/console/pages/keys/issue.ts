import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerTo } from '../../../typescript/src/endpoints.js'
import { may, useSession, wordsOf } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card, Question } from '../../components/shown.js'
import { sentence } from '../../components/words.js'

export type KeyOrdered = { org?: string; name?: string; scopes?: string[]; expires_in_seconds?: number }

const reads =
  'requests:read rejections:read rejections:write waiting:read waiting:write interactions:read data:read analytics:read persons:read persons:erase webhooks:manage'.split(
    ' ',
  )
/** What is chosen first: everything, everything and other keys too, or some scopes. */
type Rights = 'all' | 'manage' | 'some'

/** A form for a new key: for which organisation, what it is called, what it may do, and for how long. */
export const IssueKey = ({
  org,
  onIssue,
}: {
  org: string
  onIssue: (wanted: KeyOrdered) => Promise<boolean>
}): VNode => {
  const { types, me, ask } = useSession()
  const [name, setName] = useState('')
  const [forOrg, setForOrg] = useState(org)
  const canGiveAll = me.is_operator || may(me, 'all')
  const [rights, setRights] = useState<Rights>(canGiveAll ? 'all' : 'some')
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set())
  const [days, setDays] = useState('90')
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  /** An organisation that is not there yet, until somebody says whether it is to be made. */
  const [unknown, setUnknown] = useState<string>()

  const issue = async () => {
    setUnknown(undefined)
    const isMade = await onIssue({
      ...(me.is_operator && { org: forOrg.trim() }),
      ...(name.trim() && { name: name.trim() }),
      ...(rights === 'manage' && { scopes: ['all', 'keys:manage'] }),
      ...(rights === 'some' && { scopes: [...scopes] }),
      ...(days !== '' && { expires_in_seconds: Number(days) * 86_400 }),
    })
    if (isMade) setName('')
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    try {
      const given = forOrg.trim()
      if (me.is_operator && given !== org && !(await isKnown(given))) setUnknown(given)
      else await issue()
    } catch (error) {
      setProblem(wordsOf(error))
    }
    setBusy(false)
  }
  // A slip of the finger would make an organisation that nobody meant, and that stays.
  const isKnown = async (given: string): Promise<boolean> => {
    const asked = new URLSearchParams({ prefix: given, limit: '1' })
    type Found = AnswerTo<'GET /v1/operator/organisations'>
    const { organisations } = await ask<Found>(`/v1/operator/organisations?${asked}`)
    return organisations.some((each) => each.org === given)
  }

  const toggle = (scope: string) => {
    const next = new Set(scopes)
    if (!next.delete(scope)) next.add(scope)
    setScopes(next)
  }
  const box = (scope: string) =>
    html`<label key=${scope} class="check"><input type="checkbox" checked=${scopes.has(scope)} onChange=${() => toggle(scope)} /> ${scope}</label>`
  const choice = (each: Rights, words: string) =>
    html`<label class="check"><input type="radio" name="may" checked=${rights === each} onChange=${() => setRights(each)} /> ${words}</label>`
  const given = ['data:write', ...types.map(({ type }) => `${type}:write`), ...reads, 'keys:manage']
  const isReady = !isBusy && forOrg.trim() !== '' && (rights !== 'some' || scopes.size > 0)
  return html`<${Card} title="Issue a key">
    <form onSubmit=${submit}>
      ${
        me.is_operator &&
        html`<label for="issue-org">Organisation</label>
      <input id="issue-org" type="text" value=${forOrg} required spellcheck=${false} onInput=${(event: Event) => setForOrg((event.target as HTMLInputElement).value)} />`
      }
      <label for="issue-name">Name</label>
      <input id="issue-name" type="text" value=${name} maxlength="100" placeholder="nightly upload" onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} />
      <label for="issue-days">Valid for</label>
      <select id="issue-days" value=${days} onChange=${(event: Event) => setDays((event.target as HTMLSelectElement).value)}>
        ${[
          ['30', '30 days'],
          ['90', '90 days'],
          ['365', 'a year'],
          ['', me.is_operator ? 'until it is revoked' : 'until it is revoked, or as long as your own key'],
        ].map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
      </select>
      <fieldset>
        <legend>It may</legend>
        ${canGiveAll && choice('all', 'do everything for its organisation, but make no keys')}
        ${canGiveAll && choice('manage', 'do everything, and make and revoke the keys of its organisation')}
        ${choice('some', 'do only this:')}
        ${rights === 'some' && html`<div class="scopes">${given.filter((scope) => me.is_operator || may(me, scope)).map(box)}</div>`}
      </fieldset>
      ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
      ${
        unknown === undefined
          ? html`<div class="actions"><button class="primary" type="submit" disabled=${!isReady}>Issue a key</button></div>`
          : html`<${Question} key=${unknown} label="Make the organisation" question=${`There is no organisation ${unknown} yet. Make it?`} action=${`Make ${unknown} and its key`} onYes=${issue} onNo=${() => setUnknown(undefined)} />`
      }
    </form>
  <//>`
}
