import type { VNode } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { FieldReference, TypeReference } from '../../typescript/src/endpoints.js'
import type { RecordProblem } from '../../typescript/src/index.js'
import { readCell } from '../rows/cells.js'
import { html } from './html.js'
import { kindWords } from './kinds.js'
import { asText, inline } from './words.js'

type FormProps = {
  type: TypeReference
  /** The record as it was refused. */
  record: Record<string, unknown>
  problems: readonly RecordProblem[]
  isBusy: boolean
  onSend: (record: Record<string, unknown>) => void
  onLeave: () => void
}

/** A record to mend: a field for each of the type's, with what is wrong beside it. */
export const RecordForm = ({ type, record, problems, isBusy, onSend, onLeave }: FormProps): VNode => {
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(type.fields.map(({ name }) => [name, asText(record[name])])),
  )
  const extra = Object.keys(record).filter((name) => !type.fields.some((field) => field.name === name))
  const whole = problems.filter(({ field }) => field === null)
  const submit = (event: Event) => {
    event.preventDefault()
    onSend(mended(type, record, values))
  }
  return html`
    <form class="record" onSubmit=${submit} aria-label=${`A record of ${type.type}`}>
      ${whole.length > 0 && html`<p class="notice bad">${whole.map(({ message }) => message).join('; ')}</p>`}
      <div class="fields">
        ${type.fields.map(
          (field) => html`<${Field} key=${field.name} field=${field} value=${values[field.name] ?? ''}
          problem=${problems.find((each) => each.field === field.name)?.message}
          onValue=${(value: string) => setValues((before) => ({ ...before, [field.name]: value }))} />`,
        )}
      </div>
      ${extra.length > 0 && html`<p class="notice">Left out, because ${type.type} has no such field: ${extra.map((name) => html`<code>${name}</code> ${inline(record[name])} `)}</p>`}
      <div class="actions"><button class="primary" type="submit" disabled=${isBusy}>${isBusy ? 'Sending…' : 'Send it'}</button> <button type="button" onClick=${onLeave}>Leave it</button></div>
    </form>`
}

/** What the form says, as a record. A value that was not touched stays what it was, also where it was not text. */
export const mended = (
  type: TypeReference,
  record: Record<string, unknown>,
  values: Record<string, string>,
): Record<string, unknown> => {
  const entries = type.fields.flatMap((field): [string, unknown][] => {
    const text = values[field.name] ?? ''
    if (text === asText(record[field.name]) && isOfKind(field, record[field.name]))
      return field.name in record ? [[field.name, record[field.name]]] : []
    return text === '' ? [] : [[field.name, readCell(field, text)]]
  })
  return Object.fromEntries(entries)
}

// A number that was sent as text is what may be wrong: it is read anew, as the field asks.
const isOfKind = (field: FieldReference, value: unknown): boolean =>
  typeof value !== 'string' || !['number', 'boolean'].includes(field.kind)

type FieldProps = {
  field: FieldReference
  value: string
  problem: string | undefined
  onValue: (value: string) => void
}

const Field = ({ field, value, problem, onValue }: FieldProps): VNode => {
  // Several forms may be open at once.
  const id = useId()
  const common = {
    id,
    value,
    'aria-describedby': `${id}-help${problem ? ` ${id}-problem` : ''}`,
    'aria-invalid': problem ? 'true' : null,
    'aria-required': field.required ? 'true' : null,
  }
  const take = (event: Event) => onValue((event.target as HTMLInputElement).value)
  const choices = field.kind === 'boolean' ? ['true', 'false'] : field.choices
  return html`
    <div class=${problem ? 'field wrong' : 'field'}>
      <label for=${id}>${field.name}${field.required && html`<span class="refused" aria-hidden="true"> *</span>`}</label>
      ${
        choices
          ? html`<select ...${common} onChange=${take}>
            ${['', ...choices, ...(value !== '' && !choices.includes(value) ? [value] : [])].map((each) => html`<option key=${each} value=${each}>${each === '' ? '(none)' : each}</option>`)}
          </select>`
          : html`<input ...${common} type="text" autocomplete="off" spellcheck=${false} inputmode=${field.kind === 'number' ? 'decimal' : null} onInput=${take} />`
      }
      ${problem && html`<p id=${`${id}-problem`} class="refused small">${problem}</p>`}
      <p id=${`${id}-help`} class="soft small">${kindWords(field)}${field.about && field.about !== kindWords(field) && ` · ${field.about}`}</p>
    </div>`
}
