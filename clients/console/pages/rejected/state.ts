import type { VNode } from 'preact'
import type { AnswerTo } from '../../../typescript/src/endpoints.js'
import { html } from '../../components/html.js'
import { Choose } from '../../components/shown.js'
import { count } from '../../components/words.js'

// What is left to do comes first; the rest can be looked up.
const states = [
  ['open', 'open'],
  ['retried', 'tried again'],
  ['resolved', 'resolved'],
  ['all', 'all'],
] as const

export const stateNames = states.map(([name]) => name)

/** How often a page of refused records asks again by itself. */
export const refreshEvery = 15_000

type StateProps = {
  state: string
  onChange: (state: string) => void
  counts?: AnswerTo<'GET /v1/rejections/summary'>['states'] | undefined
}

export const ChooseState = ({ state, onChange, counts }: StateProps): VNode => {
  const countOf = (name: string) => (counts as Record<string, number | null> | undefined)?.[name]
  const options = states.map(([name, words]) => {
    const number = countOf(name)
    return [name, typeof number === 'number' ? `${words} (${count(number)})` : words]
  })
  return html`<${Choose} label="State" value=${state} onChange=${onChange} options=${options} />`
}
