import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { RecordProblem } from '../../typescript/src/index.js'
import { Code } from './copy.js'
import { html } from './html.js'
import { ago, moment, sentence, toneOf } from './words.js'

// The small pieces that pages are made of.

export { Code, Copyable, Name } from './copy.js'
export { Table } from './table.js'

/** A state as a coloured word. */
export const Badge = ({ state, words }: { state: string; words?: string }): VNode =>
  html`<span class=${`badge ${toneOf(state)}`}>${words ?? state.replaceAll('_', ' ')}</span>`

/** How long ago, with the exact time to hover over. */
export const When = ({ at }: { at: string | null | undefined }): VNode =>
  at
    ? html`<time class="nowrap" datetime=${at} title=${moment(at)}>${ago(at)}</time>`
    : html`<span class="soft">never</span>`

type HeadProps = {
  title: string
  /** The record that the page is about, for the title of the tab. */
  record?: string | undefined
  about?: ComponentChildren
  children?: ComponentChildren
}

export const PageHead = ({ title, record, about, children }: HeadProps): VNode => {
  useEffect(() => {
    document.title = `${record ?? title} · Weir`
  }, [title, record])
  return html`
    <div class="head">
      <div><h1 tabindex="-1">${title}</h1>${about && html`<p class="soft">${about}</p>`}</div>
      ${children && html`<div class="actions">${children}</div>`}
    </div>`
}

type CardProps = { title?: ComponentChildren; children?: ComponentChildren }

export const Card = ({ title, children }: CardProps): VNode => html`
  <section class="card">${title && html`<h2>${title}</h2>`}${children}</section>`

type EmptyProps = { title: string; command?: string; children?: ComponentChildren }

/** What to do first where there is nothing yet, with the command. */
export const Empty = ({ title, command, children }: EmptyProps): VNode => html`
  <div class="empty"><p><strong>${title}</strong></p>${children}${command && html`<${Code} text=${command} label="Command" />`}</div>`

type AskingProps = { problem: string | undefined; isLoading: boolean; reload: () => void; has: boolean }

/** While an answer has not come, and where it could not be had. What was answered before stays below it. */
export const Asking = ({ problem, isLoading, reload, has }: AskingProps): VNode | null => {
  if (problem)
    return html`<div class="notice bad" role="alert">${sentence(problem)} <button type="button" onClick=${reload}>Try again</button></div>`
  return isLoading && !has ? html`<p class="soft" role="status">Loading…</p>` : null
}

/** One of several texts, chosen by tabs. */
export const Snippets = ({ label, texts }: { label: string; texts: Record<string, string> }): VNode => {
  const names = Object.keys(texts)
  const [chosen, setChosen] = useState(names[0] ?? '')
  return html`
    <div class="snippets">
      <div class="tabs" role="group" aria-label=${label}>
        ${names.map((name) => html`<button key=${name} type="button" aria-pressed=${name === chosen} onClick=${() => setChosen(name)}>${titles[name] ?? name}</button>`)}
      </div>
      <${Code} text=${texts[chosen] ?? ''} label=${`${label}: ${titles[chosen] ?? chosen}`} />
    </div>`
}
const titles: Record<string, string> = { typescript: 'TypeScript', python: 'Python', csv: 'CSV', java: 'Java' }

export const Problems = ({ problems }: { problems: readonly RecordProblem[] }): VNode => html`
  <ul class="problems">
    ${problems.map(({ code, field, message }, index) => html`<li key=${index}>${field && !message.startsWith(field) && html`<code>${field}</code> `}${message} <span class="soft small">(${code})</span></li>`)}
  </ul>`

/** A record or a row as it is, for reading. */
export const Json = ({ value, label }: { value: unknown; label: string }): VNode => html`
  <pre class="json" tabindex="0" role="region" aria-label=${label}><code>${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</code></pre>`

type ChooseProps = {
  label: string
  value: string
  options: readonly (readonly [value: string, words: string])[]
  onChange: (value: string) => void
}

/** A choice out of a few, as a list to open. */
export const Choose = ({ label, value, options, onChange }: ChooseProps): VNode => html`
  <label class="choose">${label}
    <select value=${value} onChange=${(event: Event) => onChange((event.target as HTMLSelectElement).value)}>
      ${options.map(([each, words]) => html`<option key=${each} value=${each}>${words}</option>`)}
    </select>
  </label>`

type ConfirmProps = {
  question: ComponentChildren
  action: string
  onYes: () => void
  children: ComponentChildren
  isDanger?: boolean
  /** What it is done to, where several buttons have the same word. */
  to?: string
}

/** A question before something that cannot be undone. */
export const Confirm = ({ question, action, onYes, children, isDanger = true, to }: ConfirmProps): VNode => {
  const [isAsked, setAsked] = useState(false)
  const { button } = useFocusBack(isAsked)
  if (!isAsked)
    return html`<button type="button" class=${isDanger ? 'danger' : ''} ref=${button} aria-label=${to && `${children} ${to}`} onClick=${() => setAsked(true)}>${children}</button>`
  const yes = () => {
    setAsked(false)
    onYes()
  }
  return html`<${Question} question=${question} action=${action} isDanger=${isDanger} onYes=${yes} onNo=${() => setAsked(false)} />`
}

type QuestionProps = {
  question: ComponentChildren
  action: string
  /** What it is about, where the action does not say it. */
  label?: string
  isDanger?: boolean
  onYes: () => void
  onNo: () => void
}

/** A question that has to be answered; it takes the focus, and Escape is no. */
export const Question = ({ question, action, label = action, isDanger = false, onYes, onNo }: QuestionProps): VNode => {
  const yes = useRef<HTMLButtonElement>(null)
  useEffect(() => yes.current?.focus(), [])
  return html`<span class="confirm" role="group" aria-label=${label} onKeyDown=${(event: KeyboardEvent) => event.key === 'Escape' && onNo()}><span>${question}</span>
    <button type="button" class=${isDanger ? 'danger' : 'primary'} ref=${yes} onClick=${onYes}>${action}</button>
    <button type="button" onClick=${onNo}>No</button></span>`
}

/** For a button that opens something in its place: it has the focus again once that is closed, unless something else is to have it. */
export const useFocusBack = (isOpen: boolean) => {
  const button = useRef<HTMLButtonElement>(null)
  const isOwed = useRef(false)
  useEffect(() => {
    if (!isOpen && isOwed.current) button.current?.focus()
    isOwed.current = isOpen
  }, [isOpen])
  return {
    button,
    giveUp: () => {
      isOwed.current = false
    },
  }
}
