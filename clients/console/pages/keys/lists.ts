import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Actor, KeyListed } from '../../../typescript/src/endpoints.js'
import { html } from '../../components/html.js'
import { Badge, Confirm, Table, useFocusBack, When } from '../../components/shown.js'

type ActiveProps = {
  keys: readonly KeyListed[]
  /** The key that is signed in with. */
  own: string | null
  onRotate: (key: KeyListed) => void
  onRevoke: (key: KeyListed) => void
  onRename: (key: KeyListed, name: string | null) => Promise<boolean>
}

/** Keys that may be used, and what can be done with them. */
export const ActiveKeys = ({ keys, own, onRotate, onRevoke, onRename }: ActiveProps): VNode => html`
  <${Table} label="Keys" isCards head=${html`<th scope="col">Key</th><th scope="col">May</th><th scope="col">Last used</th><th scope="col">Made</th><th scope="col">Expires</th><th scope="col"><span class="hidden">Actions</span></th>`}>
    ${keys.map(
      (key) => html`<tr key=${key.key_id}>
      <td><${KeyName} of=${key} />${key.key_id === own && html` <${Badge} state="active" words="in use here" />`}</td>
      <td class="text small">${mayOf(key)}</td>
      <td data-label="last used"><${When} at=${key.last_used_at} /></td>
      <td data-label="made"><${When} at=${key.created_at} /><${By} actor=${key.created_by} /></td>
      <td data-label="expires">${key.expires_at ? html`<${When} at=${key.expires_at} />` : html`<span class="soft">never</span>`}</td>
      <td>${
        !key.is_operator &&
        html`<div class="actions">
        <${Rename} of=${key} onRename=${onRename} />
        <${Confirm} isDanger=${false} question="A new key is made; this one goes on for 24 hours." action="Rotate it" to=${key.key_id} onYes=${() => onRotate(key)}>Rotate<//>
        ${key.key_id !== own && html`<${Confirm} question="Nothing can be sent with it any more. Keys that it made stay." action="Revoke it" to=${key.key_id} onYes=${() => onRevoke(key)}>Revoke<//>`}
      </div>`
      }</td>
    </tr>`,
    )}
  <//>`

/** Keys that were revoked or have expired. */
export const EndedKeys = ({ keys }: { keys: readonly KeyListed[] }): VNode => html`
  <${Table} label="Revoked and expired keys" isCards head=${html`<th scope="col">Key</th><th scope="col">State</th><th scope="col">Ended</th><th scope="col">Last used</th><th scope="col">Made</th>`}>
    ${keys.map(
      (key) => html`<tr key=${key.key_id}>
      <td><${KeyName} of=${key} /></td>
      <td><${Badge} state=${key.state} /></td>
      <td data-label="ended"><${When} at=${key.revoked_at ?? key.expires_at} /><${By} actor=${key.revoked_by} /></td>
      <td data-label="last used"><${When} at=${key.last_used_at} /></td>
      <td data-label="made"><${When} at=${key.created_at} /><${By} actor=${key.created_by} /></td>
    </tr>`,
    )}
  <//>`

const KeyName = ({ of: { name, key_id } }: { of: KeyListed }): VNode =>
  html`${name && html`<strong>${name}</strong> `}<span class="mono small">${key_id}</span>`

const By = ({ actor }: { actor: Actor | null }): VNode | null =>
  actor && html`<span class="soft small"> by ${actorWords(actor)}</span>`

export const actorWords = ({ kind, key_id, name }: Actor): string => {
  if (kind === 'command') return 'the weir command'
  if (key_id === null) return 'an operator'
  return `${kind === 'operator' ? 'the operator ' : ''}${name ?? key_id}`
}

const mayOf = ({ is_operator, scopes }: KeyListed): VNode | string => {
  if (is_operator) return html`<strong>operator</strong>`
  if (scopes === null) return 'everything'
  return scopes.map((scope) => scopeWords[scope] ?? scope).join(', ')
}
const scopeWords: Record<string, string> = { all: 'everything', 'keys:manage': 'make and revoke keys' }

type RenameProps = { of: KeyListed; onRename: ActiveProps['onRename'] }

const Rename = ({ of: key, onRename }: RenameProps): VNode => {
  const [isOpen, setOpen] = useState(false)
  const [name, setName] = useState(key.name ?? '')
  const field = useRef<HTMLInputElement>(null)
  const { button, giveUp } = useFocusBack(isOpen)
  useEffect(() => field.current?.focus(), [isOpen])
  if (!isOpen)
    return html`<button type="button" ref=${button} aria-label=${`Rename ${key.key_id}`} onClick=${() => setOpen(true)}>Rename</button>`
  const submit = async (event: Event) => {
    event.preventDefault()
    // The sentence that says so takes the focus.
    if (await onRename(key, name.trim() || null)) giveUp()
    setOpen(false)
  }
  return html`<form class="rename" onSubmit=${submit} onKeyDown=${(event: KeyboardEvent) => event.key === 'Escape' && setOpen(false)}>
    <input class="rename-to" type="text" ref=${field} aria-label=${`Name of ${key.key_id}`} maxlength="100" value=${name} placeholder="nightly upload" onInput=${(event: Event) => setName((event.target as HTMLInputElement).value)} />
    <button class="primary" type="submit">Save</button>
    <button type="button" onClick=${() => setOpen(false)}>No</button>
  </form>`
}
