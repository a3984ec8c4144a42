import type { ComponentChildren, VNode } from 'preact'
import { html } from '../../components/html.js'

/** A line of a list of bars: `label` is what a screen reader calls the bar. */
export type Bar = { key: string; label: string; name: ComponentChildren; value: number; words: string; note?: string }

type BarsProps = {
  bars: readonly Bar[]
  /** What a whole bar stands for; by default the largest of them. */
  most?: number
  /** Whether they are about what was refused, which has a colour of its own. */
  isRefused?: boolean
}

/** Things with a number each, as bars that can be compared. */
export const Bars = ({ bars, most, isRefused = false }: BarsProps): VNode => {
  const largest = most ?? Math.max(...bars.map(({ value }) => value))
  return html`<ul class=${`plain bars ${isRefused ? '' : 'calm'}`}>${bars.map(
    ({ key, label, name, value, words, note }) => html`<li key=${key}>
    <span>${name}${note && html` <span class="soft small">${note}</span>`}</span> <span class="number">${words}</span>
    <meter aria-label=${label} min="0" max=${largest || 1} value=${value}></meter></li>`,
  )}</ul>`
}
