import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { html } from '../components/html.js'

type SignInProps = {
  isTrying: boolean
  message: string | undefined
  onKey: (key: string) => void
  /** Where a key is kept already and the edge could not be asked about it. */
  onAgain: (() => void) | undefined
}

/** The first page: an API key is pasted, and nothing else is needed. */
export const SignIn = ({ isTrying, message, onKey, onAgain }: SignInProps): VNode => {
  const [key, setKey] = useState('')
  useEffect(() => {
    document.title = 'Sign in · Weir'
  }, [])
  const submit = (event: Event) => {
    event.preventDefault()
    if (key.trim() !== '') onKey(key.trim())
  }
  return html`
    <main class="sign-in">
      <div class="card">
        <span class="mark"></span>
        <h1>Weir console</h1>
        <p class="soft">See what your organisation sent, and what became of it.</p>
        <form onSubmit=${submit}>
          <label for="key">API key</label>
          <input id="key" type="password" autocomplete="off" spellcheck=${false} placeholder="weir_…" value=${key}
            aria-describedby="key-help" onInput=${(event: InputEvent) => setKey((event.target as HTMLInputElement).value)} />
          <p id="key-help" class="soft small">It stays in the tabs of this console, and is forgotten when you close the last one.</p>
          <button class="primary" type="submit" disabled=${isTrying || key.trim() === ''}>${isTrying ? 'Signing in…' : 'Sign in'}</button>
        </form>
        <div role="alert">
          ${message && html`<p class="notice bad">${message}</p>`}
        </div>
        ${onAgain && !isTrying && html`<p><button type="button" onClick=${onAgain}>Try again with the key of this tab</button></p>`}
        <details>
          <summary>Where do I get a key?</summary>
          <p>From whoever runs Weir for you: operators issue keys in this console, under Keys.</p>
          <p>Where you have started it yourself, in the folder of Weir, the key of the organisation demo is in <code>.data/demo-key</code>.</p>
        </details>
      </div>
    </main>`
}
