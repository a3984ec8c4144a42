import { type RequestError, requestError } from '#http/request-error.js'
import { type ConfigSchema, integer } from '#platform/process/config.js'

// What a request says about references that are missing: ?missing_references=wait&wait_for=24h.

export const waitVariables = {
  MIN_WAIT_SECONDS: integer(
    { minimum: 1, maximum: 604_800, default: 60 },
    'the shortest time that a request may have its records wait for what they refer to. The longest is 7 days',
  ),
} as const satisfies ConfigSchema['properties']

type WaitQuery = { missing_references: 'refuse' | 'wait'; wait_for?: string }

/** How long a record waits is read here: by itself the text does not tell whether it is right. */
export const asGiven = { wait_for: (text: string): string => text }

const secondsIn: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const longest = 7 * 86_400
const usual = 86_400

/** How many milliseconds records wait for what they refer to (as `shortestWait`); undefined where they do not wait. */
export const readWait = (
  { missing_references: missing, wait_for: given }: WaitQuery,
  shortestWait: number,
): { wait: number | undefined } | { error: RequestError } => {
  if (missing === 'refuse')
    return given === undefined ? { wait: undefined } : refuse('wait_for needs missing_references=wait beside it')
  const shortest = shortestWait / 1000
  const seconds = given === undefined ? Math.max(usual, shortest) : secondsOf(given)
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
