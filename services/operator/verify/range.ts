import { readInstant } from '#schemas/read-instant.js'
import { readDuration } from '../desk/arguments.js'
import { OperatorError } from '../desk/operator-error.js'

/** From when, and up to but without when, in milliseconds. */
export type Range = { since: number; until: number | undefined }

export const readRange = (given: { since: string; until?: string }, now: number): Range => {
  const since = readMoment('--since', given.since, now)
  const until = given.until === undefined ? undefined : readMoment('--until', given.until, now)
  if (until !== undefined && until <= since)
    throw new OperatorError(`--until ${given.until} is not after --since ${given.since}: there is nothing between them`)
  return { since, until }
}

/** A moment, or how long ago it was. */
const readMoment = (option: string, given: string, now: number): number => {
  if (/^\d+[a-z]?$/.test(given)) return now - readDuration(given)
  const moment = readInstant(given.length === 10 ? `${given}T00:00:00Z` : given)
  if (typeof moment === 'number') return moment
  throw new OperatorError(
    `${option} "${given}" is not a moment: write how long ago (24h, 7d), or a date or date-time (2026-01-31T12:00:00Z)`,
  )
}
