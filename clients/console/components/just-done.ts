import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { html } from './html.js'
import { Code } from './shown.js'

/** What was just done, in a sentence; with a text that is shown this once, where one was made. */
export type JustDone = { words: string; secret?: { about: string; text: string; label: string } }

/** Focused, so that what was done is read, and seen, wherever the button was. */
export const WhatWasDone = ({ done, onSeen }: { done: JustDone; onSeen: () => void }): VNode => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [done])
  const { words, secret } = done
  return html`<div class="notice good" role="status" tabindex="-1" ref=${box}>
    <p><strong>${words}</strong>${secret && ` ${secret.about}`}</p>
    ${secret && html`<${Code} text=${secret.text} label=${secret.label} />`}
    ${secret && html`<button type="button" onClick=${onSeen}>I have copied it</button>`}
  </div>`
}
