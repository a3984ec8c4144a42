import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { SavedQuery } from '../../../typescript/src/endpoints.js'
import { useSession, wordsOf } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Card, Confirm, When } from '../../components/shown.js'
import { sentence } from '../../components/words.js'
import { useAnswer } from '../../frame/use-answer.js'

type SavedProps = {
  /** The query as it stands in the editor. */
  text: () => string
  opened: SavedQuery | undefined
  onOpen: (query: SavedQuery) => void
  onSaved: (query: SavedQuery) => void
  onDeleted: (name: string) => void
}

/** The queries that the organisation shares: to open, to save under this or another name, to delete. */
export const Saved = ({ text, opened, onOpen, onSaved, onDeleted }: SavedProps): VNode => {
  const { ask } = useSession()
  const asked = useAnswer<'/v1/queries'>('/v1/queries')
  const [name, setName] = useState('')
  const [about, setAbout] = useState('')
  const [said, setSaid] = useState<{ words: string; isBad: boolean }>()
  useEffect(() => {
    setName(opened?.name ?? '')
    setAbout(opened?.about ?? '')
  }, [opened?.name])
  const at = (each: string) => `/v1/queries/${encodeURIComponent(each)}`
  const change = async (work: () => Promise<string>) => {
    try {
      setSaid({ words: await work(), isBad: false })
    } catch (error) {
      setSaid({ words: sentence(wordsOf(error)), isBad: true })
    }
    asked.reload()
  }
  const save = (event: Event) => {
    event.preventDefault()
    void change(async () => {
      const wanted = name.trim()
      const version = opened?.name === wanted ? opened.version : undefined
      const body = { query: text(), about: about.trim() || null, ...(version !== undefined && { version }) }
      onSaved(await ask<SavedQuery>(at(wanted), { method: 'PUT', body }))
      return `Saved as ${wanted}.`
    })
  }
  const open = (each: SavedQuery) => {
    setSaid(undefined)
    onOpen(each)
  }
  const remove = (each: string) =>
    change(async () => {
      await ask(at(each), { method: 'DELETE' })
      onDeleted(each)
      return `${each} is deleted.`
    })
  const typed = (set: (value: string) => void) => (event: Event) => set((event.target as HTMLInputElement).value)
  const queries = asked.answer?.queries
  return html`<${Card} title="Saved queries">
    <p class="soft small">Shared with everybody in your organisation whose key may read analytics.</p>
    <${Asking} ...${asked} has=${Boolean(queries)} />
    ${queries?.length === 0 && html`<p class="soft">None yet: name the query below, and save it.</p>`}
    <ul class="plain saved">${queries?.map(
      (each) => html`<li key=${each.name}>
        <button class="link" type="button" aria-label=${`Open ${each.name}`} onClick=${() => open(each)}>${each.name}</button>
        ${each.about && html`<div class="small">${each.about}</div>`}
        <div class="row small soft"><span>${each.saved_by}, <${When} at=${String(each.saved_at)} /></span>
          <${Confirm} question="Delete it for everybody?" action="Delete it" to=${each.name} onYes=${() => void remove(each.name)}>Delete<//></div>
      </li>`,
    )}</ul>
    <form onSubmit=${save}>
      <label>Name <input required maxlength="60" value=${name} onInput=${typed(setName)} /></label>
      <label>What it answers <input maxlength="500" value=${about} onInput=${typed(setAbout)} /></label>
      <p class="actions"><button type="submit">${opened && opened.name === name.trim() ? 'Save' : 'Save as new'}</button></p>
    </form>
    <div role="status">${said && html`<p class=${said.isBad ? 'notice bad' : 'notice good'}>${said.words}</p>`}</div>
  <//>`
}
