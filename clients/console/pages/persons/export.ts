import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../../api/ask.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card } from '../../components/shown.js'
import { bytes, sentence } from '../../components/words.js'
import { save } from '../../rows/refused-file.js'

type Format = 'json' | 'csv'

/** Downloads everything that is kept about a person. */
export const ExportPerson = (): VNode => {
  const { key, signOut } = useSession()
  const [id, setId] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [said, setSaid] = useState<{ isGood: boolean; words: string }>()
  const ending = useRef(new AbortController())
  useEffect(() => () => ending.current.abort(), [])

  const download = async (format: Format) => {
    setBusy(true)
    setSaid(undefined)
    try {
      const response = await fetch(`/v1/persons/${encodeURIComponent(id.trim())}/export`, {
        headers: { authorization: `Bearer ${key}`, accept: format === 'csv' ? 'text/csv' : 'application/json' },
        signal: ending.current.signal,
      })
      if (!response.ok) {
        const message = messageOf(response.status, await response.json().catch(() => undefined))
        if (response.status === 401) signOut(message)
        throw new Error(message)
      }
      // An export that was cut off is an error here, and no file.
      const file = await response.blob()
      save(`person.${format}`, file)
      setSaid({
        isGood: true,
        words: `person.${format} is saved, ${bytes(file.size)}. That it was exported is in the audit.`,
      })
    } catch (error) {
      if (ending.current.signal.aborted) return
      const words =
        error instanceof TypeError ? 'no answer came, or it was cut off: try again' : (error as Error).message
      setSaid({ isGood: false, words: sentence(words) })
    }
    setBusy(false)
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void download((event.submitter as HTMLButtonElement | null)?.value === 'csv' ? 'csv' : 'json')
  }
  return html`<${Card} title="What is kept about a person">
    <form onSubmit=${submit}>
      <label for="export-person">Id</label>
      <input id="export-person" type="text" value=${id} required maxlength="1000" spellcheck=${false} autocomplete="off" placeholder="customer_id, student_id or user_id" onInput=${(event: Event) => setId((event.target as HTMLInputElement).value)} />
      <p class="soft small">Every version of every record that names the person, refused and waiting ones too, and what was made of them. Weir knows ids, not people: check who asks you before you hand it over.</p>
      <div role="status">${isBusy && html`<p class="soft">It is read…</p>`}${said?.isGood && html`<p class="notice good">${said.words}</p>`}</div>
      ${said && !said.isGood && html`<p class="notice bad" role="alert">${said.words}</p>`}
      <div class="actions">
        <button type="submit" value="json" disabled=${isBusy || id.trim() === ''}>Download as JSON</button>
        <button type="submit" value="csv" disabled=${isBusy || id.trim() === ''}>Download as CSV</button>
      </div>
    </form>
  <//>`
}
