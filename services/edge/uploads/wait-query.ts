import { type RequestError, requestError } from '#http/request-error.js'
import type { ConfigSchema } from '#platform/process/config.js'

// What a request says about references that are missing: ?missing_references=wait&wait_for=24h.

export const waitVariables = {
  MIN_WAIT_SECONDS: {
    type: 'integer',
    minimum: 1,
    maximum: 604_800,
    default: 60,
    description:
      'the shortest time that a request may have its records wait for what they refer to. The longest is 7 days',
  },
} as const satisfies ConfigSchema['properties']

export const waitNames = ['missing_references', 'wait_for'] as const
type WaitQuery = Partial<Record<(typeof waitNames)[number], unknown>>

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const longest = 7 * 86_400
const usual = 86_400

/**
 * How many milliseconds the records of a request wait for what they refer to; undefined where they are refused at once.
 * `shortestWait` is in milliseconds too.
 */
export const readWait = (
  { missing_references: missing = 'refuse', wait_for: given }: WaitQuery,
  shortestWait: number,
): { wait: number | undefined } | { error: RequestError } => {
  if (Array.isArray(missing)) return refuse('missing_references may be given once only')
  if (Array.isArray(given)) return refuse('wait_for may be given once only')
  if (missing !== 'wait' && missing !== 'refuse') return refuse('missing_references must be wait or refuse')
  if (missing === 'refuse')
    return given === undefined ? { wait: undefined } : refuse('wait_for needs missing_references=wait beside it')
  const shortest = shortestWait / 1000
  const seconds = given === undefined ? Math.max(usual, shortest) : secondsOf(String(given))
  if (seconds !== undefined && seconds >= shortest && seconds <= longest) return { wait: seconds * 1000 }
  return refuse(`wait_for must be a time from ${textOf(shortest)} to ${textOf(longest)}, such as 90s, 30m, 24h or 7d`)
}

const secondsOf = (text: string): number | undefined => {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * (secondsIn[unit] ?? 1)
}

/** As it would be written in wait_for. */
const textOf = (seconds: number): string => {
  const [unit, each] = Object.entries(secondsIn).findLast(([, each]) => seconds % each === 0) ?? ['s', 1]
  return `${seconds / each}${unit}`
}

const refuse = (message: string) => ({ error: requestError(400, message) })
