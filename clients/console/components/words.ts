import { shownZone } from './time-zone.js'

// How numbers, times and states are written, everywhere alike.

export const count = (number: number): string => number.toLocaleString('en-GB')

export const records = (number: number): string => (number === 1 ? '1 record' : `${count(number)} records`)

export const bytes = (number: number): string => {
  if (number < 1e6) return number < 1000 ? `${number} B` : `${(number / 1e3).toFixed(0)} kB`
  const unit = Math.min(large.length - 1, Math.floor(Math.log10(number) / 3) - 2)
  return `${(number / 1000 ** (unit + 2)).toFixed(1)} ${large[unit]}`
}
const large = ['MB', 'GB', 'TB']

/** A share of 1. All of it is said only of all of it. */
export const percent = (share: number): string => `${Math.floor(share * 100)} %`

export const sentence = (text: string): string => {
  const begun = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`
}

/** A moment in full, in the zone that was chosen, and with its name. */
export const moment = (iso: string): string => {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  return date.toLocaleString('en-GB', { ...inFull, timeZone: shownZone() })
}

const inFull: Intl.DateTimeFormatOptions = {
  ...{ day: 'numeric', month: 'short', year: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
}

/** A time of day, in the zone that was chosen. */
export const timeOfDay = (ms: number, withSeconds = true): string =>
  new Date(ms).toLocaleTimeString('en-GB', {
    ...{ hour: '2-digit', minute: '2-digit', timeZone: shownZone() },
    ...(withSeconds && { second: '2-digit' }),
  })

/** How long ago a moment was, or in how long it will be. */
export const ago = (iso: string, now = Date.now()): string => {
  const seconds = (now - Date.parse(iso)) / 1000
  if (Number.isNaN(seconds)) return iso
  const words = span(Math.abs(seconds))
  if (words === 'now') return 'just now'
  return seconds >= 0 ? `${words} ago` : `in ${words}`
}

const span = (seconds: number): string => {
  if (seconds < 3) return 'now'
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`
  if (seconds < 36 * 3600) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86400)} days`
}

/** A value of a record as one line. */
export const inline = (value: unknown): string => {
  if (value === undefined) return '–'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A value as it stands in a form or in a cell: nothing where there is none. */
export const asText = (value: unknown): string => (value === undefined || value === null ? '' : inline(value))

/** The problem codes in words. One that is not listed is shown as it is. */
export const codeWords = (code: string): string => codes[code] ?? code.replaceAll('_', ' ')

const codes: Record<string, string> = {
  missing_field: 'a field is missing',
  unknown_field: 'a field is not known',
  wrong_type: 'a value has the wrong type',
  bad_format: 'a value has the wrong form',
  out_of_range: 'a value is out of range',
  not_one_of: 'a value is none of those allowed',
  unknown_reference: 'it refers to a record that is not there',
  idempotency_conflict: 'its key was used for something else',
  too_many_waiting: 'too many records wait already',
  overtaken: 'a newer one may have come while it waited',
  undecodable: 'it could not be decoded',
  person_erased: 'it names a person who was erased',
  unreadable: 'it could not be read',
}

/** The colour of a state: of a request, a record, a key, a part. */
export const toneOf = (state: string): string => tones.find(([, states]) => states.includes(state))?.[0] ?? 'plain'

const tones: [string, string[]][] = [
  ['accepted', ['accepted', 'accepted_since', 'active', 'ok', 'published', 'stored', 'done', 'enabled', 'delivered']],
  ['refused', ['refused', 'rejected', 'deleted', 'expired', 'revoked', 'away', 'open', 'failed', 'failing']],
  ['waiting', ['partial', 'pending', 'waiting', 'waited', 'running']],
  ['interactions', ['retried', 'changed']],
]
