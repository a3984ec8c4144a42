/** The years that both JavaScript and ClickHouse's DateTime64 and Date32 hold exactly. */
export const firstYear = 1900
export const lastYear = 2299

const dayInMs = 86_400_000
const earliest = Date.UTC(firstYear, 0, 1)
const latest = Date.UTC(lastYear + 1, 0, 1) - 1

export type Unread = 'bad_format' | 'out_of_range'

const instantPattern =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:(Z)|([+-])(\d{2})(?::?(\d{2}))?)?$/i
const longestInstant = 40

/** Milliseconds since 1970 of an ISO 8601 date-time; UTC where no offset is given; finer than a millisecond is cut off. */
export const readInstant = (given: string): number | Unread => {
  if (given.length > longestInstant) return 'bad_format'
  const m = instantPattern.exec(given)
  if (!m) return 'bad_format'
  const day = daysSince1970(Number(m[1]), Number(m[2]), Number(m[3]))
  const hour = Number(m[4])
  const minute = Number(m[5])
  const second = Number(m[6] ?? 0)
  const offsetHours = Number(m[10] ?? 0)
  const offsetMinutes = Number(m[11] ?? 0)
  if (day === undefined || hour > 23 || minute > 59 || second > 59 || offsetHours > 23 || offsetMinutes > 59) {
    return 'bad_format'
  }
  const millisecond = m[7] ? Number(m[7].slice(0, 3).padEnd(3, '0')) : 0
  const offset = (offsetHours * 60 + offsetMinutes) * (m[9] === '-' ? -1 : 1)
  return withinRange(day * dayInMs + (hour * 60 + minute - offset) * 60_000 + second * 1000 + millisecond)
}

const secondsBelow = 100_000_000_000

/** A positive integer: seconds below 100 000 000 000, otherwise milliseconds. */
export const readEpoch = (given: number): number | Unread => {
  if (!Number.isInteger(given)) return Number.isFinite(given) ? 'bad_format' : 'out_of_range'
  if (given <= 0) return 'out_of_range'
  return withinRange(given < secondsBelow ? given * 1000 : given)
}

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/

/** Days since 1970 of a YYYY-MM-DD that is a real day. */
export const readDate = (given: string): number | Unread => {
  const m = given.length === 10 ? datePattern.exec(given) : null
  const days = m ? daysSince1970(Number(m[1]), Number(m[2]), Number(m[3])) : undefined
  if (days === undefined) return 'bad_format'
  return withinRange(days * dayInMs) === 'out_of_range' ? 'out_of_range' : days
}

export const writeInstant = (ms: number): string => new Date(ms).toISOString()
export const writeDate = (days: number): string => new Date(days * dayInMs).toISOString().slice(0, 10)

/** Whether a moment lies within the years that are kept; NaN does not. */
export const withinYears = (ms: number): boolean => ms >= earliest && ms <= latest

const withinRange = (ms: number): number | Unread => (withinYears(ms) ? ms : 'out_of_range')

// Date rolls 30 February over to March, and Date.UTC takes year 24 for 1924: only a real day keeps its month and day.
const daysSince1970 = (year: number, month: number, day: number): number | undefined => {
  const at = new Date(0)
  at.setUTCFullYear(year, month - 1, day)
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === day ? at.getTime() / dayInMs : undefined
}
