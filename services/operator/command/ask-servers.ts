import { reasonOf } from '#platform/health/health.js'
import { changeAddress, isAddress } from '#platform/postgres/hosts.js'
import { AccessRefused } from '#platform/process/access.js'
import { within } from '#platform/process/within.js'
import { OperatorError } from './operator-error.js'
import { type Pace, until } from './until.js'

/** A part as an operator knows it: its name, where it is, the variable that says so, and how it is asked whether it is there. */
export type Part = {
  name: string
  address: string
  variable: string
  check: () => Promise<unknown>
  /** What this part alone can have meant by an error. */
  lineFor?: (error: unknown, part: Part) => string | undefined
  /** Said instead of the usual words where the part does not answer. */
  away?: ((address: string, reason: string) => string) | undefined
}

// Long enough for a part that is started again; with nothing running, the command still answers within 3 s.
const refusedFor = 500
// A part that takes the connection and says nothing is busy rather than away.
const silentFor = 10_000

/** Throws one line for each part that does not answer. `wait`: how many milliseconds a part may take that is starting. */
export const waitForParts = async (parts: readonly Part[], wait?: number): Promise<void> => {
  const lines = await Promise.all(
    parts.map(async (part) => {
      const failure = await failureOf(part, wait ?? silentFor, { every: 250, within: wait ?? refusedFor })
      if (failure === undefined) return []
      const refused = refusedLine(failure, [part])
      if (refused !== undefined) return refused
      if (wait === undefined) return part.lineFor?.(failure, part) ?? awayLine(part, reasonOf(failure))
      return (
        `${part.name} does not answer at ${part.address} after ${wait / 1000} s (${reasonOf(failure)}): ` +
        `is it running? ${part.variable} says where it is`
      )
    }),
  )
  if (lines.flat().length > 0) throw new OperatorError(lines.flat().join('\n'))
}

const answerWithin = 3_000

/** Asks a part once: undefined where it answers, and otherwise the line that says that it is away. */
export const askOnce = async (part: Part, ms = answerWithin): Promise<string | undefined> => {
  const failure = await failureOf(part, ms, { every: 0, tries: 1 })
  return failure === undefined ? undefined : (refusedLine(failure, [part]) ?? awayLine(part, reasonOf(failure)))
}

/** The line for a part that does not let us in, with its address; undefined for any other error. */
export const refusedLine = (error: unknown, parts: readonly Part[]): string | undefined => {
  if (!(error instanceof AccessRefused)) return undefined
  const part = parts.find(({ name }) => error.message.startsWith(name))
  return part ? error.message.replace(part.name, `${part.name} at ${part.address}`) : error.message
}

/** The line for a part that does not answer. */
export const awayLine = ({ name, address, variable, away }: Part, reason: string): string =>
  away?.(address, reason) ??
  `${name} does not answer at ${address} (${reason}): is npm start running? ${variable} says where it is`

// A check that runs out of time says less than one that failed before it, as a part does that starts: its failure is kept.
const failureOf = async (part: Part, ms: number, pace: Pace): Promise<unknown> => {
  const deadline = Date.now() + ms
  let failure: unknown = new Error('no answer')
  const check = () =>
    part.check().catch((error: unknown) => {
      failure = error
      throw error
    })
  const isThere = await until(
    () =>
      within(Math.max(deadline - Date.now(), 1), check()).then(
        () => true,
        () => false,
      ),
    pace,
  )
  return isThere ? undefined : failure
}

/** Where a part is, fit to be shown: without the password, and without parameters, which may hold one. */
export const addressOf = (url: string): string => {
  if (!isAddress(url)) return 'the address that was given'
  return changeAddress(url, (address) => {
    address.password = ''
    address.search = ''
  }).replace(/\/$/, '')
}
