import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { TypeReference } from '../../../typescript/src/endpoints.js'
import type { Dialect } from '../../../typescript/src/files/dialect.js'
import type { Recognised } from '../../../typescript/src/files/recognise.js'
import { html } from '../../components/html.js'
import { Card, Choose, Table } from '../../components/shown.js'
import { ownZone } from '../../components/time-zone.js'
import { sentence } from '../../components/words.js'
import type { LookedAt } from '../../rows/open-in-worker.js'
import type { FileReading } from '../../rows/reading.js'

/** What people said of a file; the rest is taken from the file itself. */
export type SaidOfReading = {
  dialect: Partial<Dialect>
  fields?: string[] | undefined
  constants: Record<string, string>
  zone?: string | undefined
}

export const nothingSaid: SaidOfReading = { dialect: {}, constants: {} }

/** How the file is read, once everything about it is certain or said. */
export const readingOf = ({ found, columns, fields }: LookedAt, said: SaidOfReading): FileReading | undefined => {
  const of = <Name extends keyof Dialect>(name: Name): Dialect[Name] | undefined => {
    const one: Recognised<Dialect[Name]> = found[name]
    return said.dialect[name] ?? ('is' in one ? one.is : undefined)
  }
  const [encoding, delimiter, decimal, dates] = [of('encoding'), of('delimiter'), of('decimal'), of('dates')]
  if (encoding === undefined || delimiter === undefined || decimal === undefined || dates === undefined) return
  return {
    dialect: { encoding, delimiter, decimal, dates },
    ...(columns && { fields }),
    constants: said.constants,
    ...(said.zone && { zone: said.zone }),
  }
}

type TakenForProps = {
  type: TypeReference
  look: LookedAt
  said: SaidOfReading
  onSaid: (said: SaidOfReading) => void
}

/** What the file was taken for, to be changed; what is not certain is asked. */
export const TakenFor = ({ type, look, said, onSaid }: TakenForProps): VNode => {
  const isCsv = look.format === 'CSV'
  const say = (name: keyof Dialect) => (value: string) =>
    // Another separator makes other columns.
    onSaid({
      ...said,
      ...(name === 'delimiter' && { fields: undefined }),
      dialect: { ...said.dialect, [name]: value },
    })
  const open = names.filter((name) => said.dialect[name] === undefined && 'why' in look.found[name])
  const shown = isCsv ? names : names.slice(0, 1)
  // What was chosen a moment ago may not have been looked at yet.
  const fields = said.fields ?? look.fields
  const missing = look.columns ? type.fields.filter(({ name, required }) => required && !fields.includes(name)) : []
  return html`
    <${Card} title=${`Taken for ${look.format}`}>
      <div role="status">${open.map((name) => html`<p key=${name} class="notice">${sentence((look.found[name] as { why: string }).why)} ${advice[name]}</p>`)}</div>
      <div class="row">
        ${shown.map((name) => html`<${ChooseForm} key=${name} name=${name} found=${look.found[name]} said=${said.dialect[name]} onChange=${say(name)} />`)}
        ${look.withoutZone && html`<${Choose} label="Times without a zone" value=${said.zone ?? ''} options=${zones()} onChange=${(zone: string) => onSaid({ ...said, zone })} />`}
      </div>
      ${look.columns && html`<${Columns} type=${type} look=${look} fields=${fields} onFields=${(chosen: string[]) => onSaid({ ...said, fields: chosen })} />`}
      ${missing.length > 0 && html`<h3>No column is</h3><div class="row">${missing.map(({ name }) => html`<${ForAll} key=${name} name=${name} value=${said.constants[name] ?? ''} onValue=${(value: string) => onSaid({ ...said, constants: withValue(said.constants, name, value) })} />`)}</div>`}
    <//>`
}

type ForAllProps = { name: string; value: string; onValue: (value: string) => void }

/** What is typed counts when the field is left: each sign of it would be tried out otherwise. */
const ForAll = ({ name, value, onValue }: ForAllProps): VNode => {
  const [text, setText] = useState(value)
  return html`<label class="choose">${name} <input type="text" autocomplete="off" spellcheck=${false} placeholder="one value for all" value=${text}
    onInput=${(event: Event) => setText((event.target as HTMLInputElement).value)} onChange=${(event: Event) => onValue((event.target as HTMLInputElement).value.trim())} /></label>`
}

const names = ['encoding', 'delimiter', 'decimal', 'dates'] as const

const advice: Record<keyof Dialect, string> = {
  encoding: 'Excel writes Windows-1252: choose it, and look whether the letters below are right.',
  delimiter: 'Choose it.',
  decimal: 'Choose what it is.',
  dates: 'Choose which.',
}

const labels: Record<keyof Dialect, string> = {
  encoding: 'Encoding',
  delimiter: 'Cells are separated by',
  decimal: 'Decimal mark',
  dates: 'Dates',
}

const forms: Record<keyof Dialect, [value: string, words: string][]> = {
  encoding: [
    ['utf-8', 'UTF-8'],
    ['windows-1252', 'Windows-1252'],
    ['utf-16le', 'UTF-16 (little endian)'],
    ['utf-16be', 'UTF-16 (big endian)'],
  ],
  delimiter: [
    [',', 'comma'],
    [';', 'semicolon'],
    ['\t', 'tab'],
    ['|', 'bar |'],
  ],
  decimal: [
    ['.', 'point: 1.5'],
    [',', 'comma: 1,5'],
  ],
  dates: [
    ['', '2026-12-31 (ISO 8601)'],
    ['DD.MM.YYYY', '31.12.2026'],
    ['DD/MM/YYYY', '31/12/2026'],
    ['MM/DD/YYYY', '12/31/2026'],
    ['DD-MM-YYYY', '31-12-2026'],
    ['YYYY/MM/DD', '2026/12/31'],
  ],
}

type FormProps = {
  name: keyof Dialect
  found: Recognised<string>
  said: string | undefined
  onChange: (value: string) => void
}

const ChooseForm = ({ name, found, said, onChange }: FormProps): VNode => {
  const value = said ?? ('is' in found ? found.is : unsaid)
  const known = forms[name]
  const options = [
    ...(value === unsaid ? [[unsaid, 'please choose'] as const] : []),
    ...known,
    ...(value === unsaid || known.some(([each]) => each === value) ? [] : [[value, value] as const]),
  ]
  return html`<${Choose} label=${labels[name]} value=${value} options=${options} onChange=${(chosen: string) => chosen !== unsaid && onChange(chosen)} />`
}

// No form is called so; '' is that of ISO 8601.
const unsaid = '?'

const zones = (): [string, string][] => {
  const own = ownZone()
  return [['', 'are UTC'], ...(own === 'UTC' ? [] : [[own, `are of ${own}`] as [string, string]])]
}

type ColumnsProps = { type: TypeReference; look: LookedAt; fields: string[]; onFields: (fields: string[]) => void }

/** Which field each column becomes. Closed where all are what they are called. */
const Columns = ({ type, look, fields, onFields }: ColumnsProps): VNode => {
  const { columns = [], samples } = look
  const left = columns.filter((_, at) => fields[at] === '')
  const other = columns.filter((name, at) => fields[at] !== '' && fields[at] !== name)
  const options = [
    ['', '(leave out)'],
    ...type.fields.map(({ name, required }) => [name, required ? `${name} *` : name]),
  ]
  return html`
    ${left.length > 0 && html`<p class="notice">Left out, because no field of ${type.type} is called so: ${left.map((name, at) => html`${at > 0 && ', '}<code>${name || 'a column without a name'}</code>`)}. Choose what they are, if they are one.</p>`}
    <details open=${left.length > 0 || other.length > 0}>
      <summary>Columns and fields</summary>
      <${Table} label="Columns and fields" isCards hasCsv=${false} head=${html`<th scope="col">Column</th><th scope="col">Such as</th><th scope="col">Becomes</th>`}>
        ${columns.map(
          (name, at) => html`<tr key=${at}>
          <td class="first">${name || '(no name)'}</td>
          <td class="text small soft" data-label="such as">${(samples[at] ?? '').slice(0, 60) || html`<span class="soft">nothing</span>`}</td>
          <td><select aria-label=${`What the column ${name || at + 1} becomes`} class=${fields[at] === '' ? 'waiting' : ''} value=${fields[at]} onChange=${(event: Event) => onFields(fields.with(at, (event.target as HTMLSelectElement).value))}>
            ${options.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
          </select></td></tr>`,
        )}
      <//>
    </details>`
}

const withValue = (constants: Record<string, string>, name: string, value: string): Record<string, string> => {
  const { [name]: _, ...others } = constants
  return value === '' ? others : { ...others, [name]: value }
}
