import { OperatorError } from './operator-error.js'

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

/** A duration that must last. */
export const readLifetime = (given: string): number => {
  const ms = readDuration(given)
  if (ms === 0) throw new OperatorError('a key that expires at once is of no use: give a longer time, such as 90d')
  return ms
}

/** How far away a moment is, short enough for a table: "in 90 d", "5 min ago". */
export const toDistance = (then: Date, now: Date): string => {
  const ms = then.getTime() - now.getTime()
  const far = Math.abs(ms)
  const amount =
    far < 60_000
      ? 'a moment'
      : far < 2 * 3_600_000
        ? `${Math.round(far / 60_000)} min`
        : far < 2 * 86_400_000
          ? `${Math.round(far / 3_600_000)} h`
          : `${Math.round(far / 86_400_000)} d`
  return ms >= 0 ? `in ${amount}` : `${amount} ago`
}
