import { nearest } from '#schemas/derive/nearest-name.js'
import { keyNamePattern } from '#schemas/endpoints/access/keys.js'
import { readInstant } from '#schemas/read-instant.js'
import { OperatorError } from './operator-error.js'

// What operators write behind a command and its options: read once, and refused in one line that says what to write.

const orgPattern = /^[a-z0-9][a-z0-9-]{0,62}$/

/** Organisation ids stand in Kafka keys, before a slash, and in rows: plain enough to need no quoting anywhere. */
export const readOrg = (given: string): string => {
  if (orgPattern.test(given)) return given
  throw new OperatorError(
    `${JSON.stringify(given)} cannot be an organisation's id: ` +
      'use 1 to 63 lower-case letters, digits and hyphens, such as acme or acme-2',
  )
}

/** What people call a key. */
export const readKeyName = (given: string): string => {
  if (new RegExp(keyNamePattern).test(given)) return given
  throw new OperatorError('a name has 1 to 100 characters, and no line ends')
}

/** One of these names, such as a type or a scope. */
export const readName = <Name extends string>(what: string, given: string, known: readonly Name[]): Name => {
  const found = known.find((name) => name === given)
  if (found) return found
  const meant = nearest(given, known)
  const hint = meant ? `did you mean ${meant}?` : `known are ${known.join(', ')}`
  throw new OperatorError(`there is no ${what} ${JSON.stringify(given)}: ${hint}`)
}

/** A whole number of six digits at the most, and not below `least`. `problem` is said of anything else. */
export const readCount = (given: string, problem: string, least = 0): number => {
  if (/^\d{1,6}$/.test(given) && Number(given) >= least) return Number(given)
  throw new OperatorError(problem)
}

const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
// A century: further on, a slip of the finger is likelier than a wish, and dates leave the range of timestamps.
const longest = 36_500 * 86_400_000

/** Milliseconds of 30m, 24h, 90d or 0. */
export const readDuration = (given: string): number => {
  if (given === '0') return 0
  const m = /^(\d{1,9})([smhdw])$/.exec(given)
  const ms = m ? Number(m[1]) * (units[m[2] ?? ''] ?? 0) : Number.NaN
  if (Number.isNaN(ms)) {
    throw new OperatorError(`"${given}" is not a duration: write a number and a unit, such as 30m, 24h, 90d, or 0`)
  }
  if (ms > longest) throw new OperatorError(`"${given}" is longer than 100 years: leave the option out for "never"`)
  return ms
}

/** Milliseconds that a key lives: more than none. */
export const readLifetime = (given: string): number => {
  const ms = readDuration(given)
  if (ms === 0) throw new OperatorError('a key that expires at once is of no use: give a longer time, such as 90d')
  return ms
}

/** Milliseconds since 1970: of a date or date-time, or of how long before now (24h, 7d). `problem` is said of anything else. */
export const readMoment = (given: string, now: number, problem: string): number => {
  if (/^\d+[a-z]?$/.test(given)) return now - readDuration(given)
  const moment = readInstant(/^\d{4}-\d{2}-\d{2}$/.test(given) ? `${given}T00:00:00Z` : given)
  if (typeof moment === 'number') return moment
  throw new OperatorError(problem)
}
