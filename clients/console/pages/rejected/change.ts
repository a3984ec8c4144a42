import type { VNode } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { RetryPlan } from '../../../typescript/src/endpoints.js'
import type { RejectedValue } from '../../../typescript/src/index.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Card, Choose, Confirm, Problems, Table } from '../../components/shown.js'
import { count, inline, records } from '../../components/words.js'
import { useAnswer } from '../../frame/use-answer.js'
import { readCell } from '../../rows/cells.js'
import { type GroupFilter, RetryShown, useMayRetry, useRetry } from './retry.js'

type ChangeProps = { filter: GroupFilter & { type: string; field: string }; onDone: () => void }

/** One mistake that was made many times, mended once: "Great Britain" becomes GB in all records that have it. */
export const ChangeValue = ({ filter, onDone }: ChangeProps): VNode | null => {
  const { types } = useSession()
  const { type, field, code, since, request_id } = filter
  const named = Object.entries({ type, field, code, since, request_id, state: 'open' })
  const query = new URLSearchParams(named.filter((each): each is [string, string] => each[1] !== undefined))
  const asked = useAnswer<'/v1/rejections/values'>(`/v1/rejections/values?${query}`)
  const [chosen, setChosen] = useState('')
  const [text, setText] = useState('')
  const id = useId()
  const again = () => {
    asked.reload()
    onDone()
  }
  const retry = useRetry(filter, again)
  const reference = types.find((each) => each.type === type)
  const values = asked.answer?.values ?? []
  if (!useMayRetry() || !reference || field === reference.id) return null
  // What was chosen may be done with.
  const value = values.find((each) => nameOf(each) === chosen) ?? values[0]
  const known = reference.fields.find(({ name }) => name === field)
  const choices = known?.kind === 'boolean' ? ['true', 'false'] : known?.choices
  const change = {
    field,
    ...(value && { from: value.value }),
    ...(text !== '' && { to: readCell(known, text) }),
  }
  const take = (event: Event) => {
    setText((event.target as HTMLInputElement).value)
    retry.forget()
  }
  const { plan } = retry
  return html`
    <${Card} title=${html`Change <code>${field}</code> in many of them`}>
      <p class="soft">Where one mistake was made often. The others of their fields stay as they were sent.</p>
      <${Asking} ...${asked} has=${asked.answer !== undefined} />
      ${asked.answer && values.length === 0 && html`<p>Nothing of this group is open any more.</p>`}
      ${
        value &&
        html`<div class="actions">
        <${Choose} label="Where it is" value=${nameOf(value)} options=${values.map((each) => [nameOf(each), `${wordsOf(each)}: ${records(each.count)}`])} onChange=${(
          name: string,
        ) => {
          setChosen(name)
          retry.forget()
        }} />
        <label class="choose" for=${id}>Becomes
          ${
            choices
              ? html`<select id=${id} value=${text} onChange=${take}>${['', ...choices].map((each) => html`<option key=${each} value=${each}>${each === '' ? '(left out)' : each}</option>`)}</select>`
              : html`<input id=${id} type="text" autocomplete="off" spellcheck=${false} value=${text} placeholder="left out" onInput=${take} />`
          }
        </label>
        <button type="button" disabled=${retry.isBusy} onClick=${() => retry.look(change)}>Preview</button>
      </div>
      ${asked.answer?.complete === false && html`<p class="soft small">Only the ${count(values.length)} commonest values are shown.</p>`}`
      }
      <${RetryShown} ...${retry} />
      ${plan?.samples && plan.samples.length > 0 && html`<${Samples} field=${field} samples=${plan.samples} />`}
      ${plan && plan.submitted > 0 && html`<div class="actions"><${Confirm} isDanger=${false} question=${`Change ${field} in ${records(plan.submitted)} and submit them?`} action="Change and submit" onYes=${() => retry.send(change)}>Change them<//></div>`}
    <//>`
}

const nameOf = ({ value }: RejectedValue): string => JSON.stringify(value)
const wordsOf = ({ value }: RejectedValue): string => (value === null ? '(nothing)' : inline(value))

type Sample = NonNullable<RetryPlan['samples']>[number]

const Samples = ({ field, samples }: { field: string; samples: readonly Sample[] }): VNode => html`
  <${Table} label="The first of them, as they would be" isCards head=${html`<th scope="col">Record</th><th scope="col">${field} was</th><th scope="col">becomes</th><th scope="col">Still wrong</th>`}>
    ${samples.map(
      (one) => html`<tr key=${one.rejection_id}>
        <td data-label="Record" class="mono small">${one.id ?? 'no id'}</td><td data-label="was">${'before' in one ? inline(one.before) : '(not there)'}</td><td data-label="becomes"><strong>${'after' in one ? inline(one.after) : '(left out)'}</strong></td>
        <td data-label="Still wrong">${one.problems.length > 0 ? html`<${Problems} problems=${one.problems} />` : html`<span class="accepted">nothing by itself</span>`}</td>
      </tr>`,
    )}
  <//>`
