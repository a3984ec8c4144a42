import type { VNode } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { html } from './html.js'

/** An id or a key, to be copied by a click. */
export const Copyable = ({ text, what }: { text: string; what: string }): VNode => html`
  <span class="copyable"><code>${text}</code><${Copy} text=${text} what=${what} /></span>`

/** A name in a table. Where it does not fit, a new line begins behind a dot or a slash. */
export const Name = ({ text }: { text: string }): VNode => {
  const [first, ...parts] = text.split(/(?<=[./])/)
  return html`<code>${first}${parts.map((part, index) => html`<wbr key=${index} />${part}`)}</code>`
}

/** Text to copy. */
export const Code = ({ text, label }: { text: string; label: string }): VNode => html`
  <div class="code copyable"><pre tabindex="0" role="region" aria-label=${label}><code>${text}</code></pre><${Copy} text=${text} what=${label} /></div>`

const Copy = ({ text, what }: { text: string; what: string }): VNode => {
  const [state, setState] = useState('')
  const button = useRef<HTMLButtonElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setState('Copied')
    } catch {
      setState(copyBySelecting(button.current) ? 'Copied' : 'Selected: press Ctrl+C')
    }
    setTimeout(() => setState(''), 2_500)
  }
  return html`<button class="copy" type="button" ref=${button} aria-label=${`Copy: ${what}`} onClick=${copy}><span aria-live="polite">${state || 'Copy'}</span></button>`
}

/** Browsers give the clipboard only to pages that came over https, or from this machine. What is selected can be copied everywhere. */
const copyBySelecting = (button: HTMLElement | null): boolean => {
  const text = button?.closest('.copyable')?.querySelector('code')
  if (!text) return false
  getSelection()?.selectAllChildren(text)
  return document.execCommand('copy')
}
