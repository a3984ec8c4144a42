import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card } from '../../components/shown.js'
import { useState } from '../../vendor/hooks.js'
import type { VNode } from '../../vendor/preact.js'

const reads =
  'requests:read rejections:read rejections:write waiting:read waiting:write interactions:read data:read'.split(' ')

/** A form for a new key: for which organisation, what it may do, and for how long. */
export const IssueKey = ({ org, onIssue }: { org: string; onIssue: (wanted: unknown) => Promise<void> }): VNode => {
  const { types } = useSession()
  const [name, setName] = useState(org)
  const [isAll, setAll] = useState(true)
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set())
  const [days, setDays] = useState('90')
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    await onIssue({
      org: name.trim(),
      ...(!isAll && { scopes: [...scopes] }),
      ...(days !== '' && { expires_in_seconds: Number(days) * 86_400 }),
    })
    setBusy(false)
  }
  const toggle = (scope: string) => {
    const next = new Set(scopes)
    if (!next.delete(scope)) next.add(scope)
    setScopes(next)
  }
  const box = (scope: string) =>
    html`<label key=${scope} class="check"><input type="checkbox" checked=${scopes.has(scope)} onChange=${() => toggle(scope)} /> ${scope}</label>`
  return html`<${Card} title="Issue a key">
    <form onSubmit=${submit}>
      <label for="issue-org">Organisation</label>
      <input id="issue-org" type="text" value=${name} required spellcheck=${false} onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} />
      <label for="issue-days">Valid for</label>
      <select id="issue-days" value=${days} onChange=${(event: Event) => setDays((event.target as HTMLSelectElement).value)}>
        ${[
          ['30', '30 days'],
          ['90', '90 days'],
          ['365', 'a year'],
          ['', 'until it is revoked'],
        ].map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
      </select>
      <fieldset>
        <legend>It may</legend>
        <label class="check"><input type="radio" name="may" checked=${isAll} onChange=${() => setAll(true)} /> do everything for its organisation</label>
        <label class="check"><input type="radio" name="may" checked=${!isAll} onChange=${() => setAll(false)} /> do only this:</label>
        ${!isAll && html`<div class="scopes">${['data:write', ...types.map(({ type }) => `${type}:write`), ...reads].map(box)}</div>`}
      </fieldset>
      <div class="actions"><button class="primary" type="submit" disabled=${isBusy || name.trim() === '' || (!isAll && scopes.size === 0)}>Issue a key</button></div>
    </form>
  <//>`
}
