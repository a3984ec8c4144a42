import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Endpoints, Webhook } from '../../../typescript/src/endpoints.js'
import { wordsOf } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card } from '../../components/shown.js'
import { sentence } from '../../components/words.js'
import { eventWords } from './state.js'

export type WantedWebhook = Endpoints['POST /v1/webhooks']['body']

type FormProps = {
  title: string
  action: string
  /** The webhook that is changed; without it the form makes a new one, with all events chosen. */
  now?: Pick<Webhook, 'url' | 'events'>
  /** Rejects where the edge refuses it: the form says why, and keeps what was typed. */
  onSave: (wanted: WantedWebhook) => Promise<void>
}

const allEvents = Object.keys(eventWords) as Webhook['events']

/** A form for a webhook's address and for the events that are sent there. */
export const WebhookForm = ({ title, action, now, onSave }: FormProps): VNode => {
  const [url, setUrl] = useState(now?.url ?? '')
  const [events, setEvents] = useState<ReadonlySet<string>>(new Set(now?.events ?? allEvents))
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const wanted = { url: url.trim(), events: allEvents.filter((event) => events.has(event)) }
  const isSame =
    wanted.url === now?.url && wanted.events.join() === allEvents.filter((each) => now.events.includes(each)).join()

  const submit = async (event: Event) => {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    try {
      await onSave(wanted)
      if (!now) setUrl('')
    } catch (error) {
      setProblem(wordsOf(error))
    }
    setBusy(false)
  }
  const toggle = (event: string) => {
    const next = new Set(events)
    if (!next.delete(event)) next.add(event)
    setEvents(next)
  }
  return html`<${Card} title=${title}>
    <form onSubmit=${submit}>
      <label for="webhook-url">Address</label>
      <input id="webhook-url" type="text" inputmode="url" value=${url} required maxlength="2000" spellcheck=${false} autocomplete="off" placeholder="https://example.com/weir" onInput=${(event: Event) => setUrl((event.target as HTMLInputElement).value)} />
      <p class="soft small">It must be public and https, unless the operator allows others.</p>
      <fieldset>
        <legend>It is told of</legend>
        ${allEvents.map(
          (event) =>
            html`<label key=${event} class="check"><input type="checkbox" checked=${events.has(event)} onChange=${() => toggle(event)} /> <span><code>${event}</code> <span class="soft small">${eventWords[event]}</span></span></label>`,
        )}
      </fieldset>
      ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
      <div class="actions"><button class="primary" type="submit" disabled=${isBusy || isSame || wanted.url === '' || wanted.events.length === 0}>${action}</button></div>
    </form>
  <//>`
}
