import type { VNode } from 'preact'
import { html } from '../components/html.js'
import { linkTo } from './route.js'

type PagerProps = {
  path: readonly string[]
  /** What else stands in the address. */
  query?: Record<string, string>
  cursor: string | null
  next: string | null | undefined
  words: { first: string; next: string }
}

/** From one page of a list to the next: the address says where one is, and the browser leads back. */
export const Pager = ({ path, query = {}, cursor, next, words }: PagerProps): VNode => {
  // The link may be gone on the page that it leads to.
  const focus = () => document.querySelector('h1')?.focus()
  return html`<div class="actions">
    ${cursor && html`<a class="button" href=${linkTo(path, query)} onClick=${focus}>${words.first}</a>`}
    ${next && html`<a class="button" href=${linkTo(path, { ...query, cursor: next })} onClick=${focus}>${words.next}</a>`}
  </div>`
}
