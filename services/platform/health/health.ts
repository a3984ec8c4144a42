import { within } from '../process/patience.js'

export type Check = () => Promise<unknown> | unknown
export type PartState = { ok: true } | { ok: false; problem: string }
export type Readiness = { status: 'ready' | 'not_ready'; parts: Record<string, PartState> }

const checkWithin = 3_000
/** For those whom another service asks, which has to answer in time itself. */
export const checkWithinForPeers = 2_000

/** Asks every part at once; a part that does not answer in time is down. */
export const createReadiness =
  (checks: Record<string, Check>, bound = checkWithin): (() => Promise<Readiness>) =>
  async () => {
    const states = await Promise.all(
      Object.entries(checks).map(
        async ([name, check]): Promise<[string, PartState]> => [name, await stateOf(check, bound)],
      ),
    )
    return {
      status: states.every(([, state]) => state.ok) ? 'ready' : 'not_ready',
      parts: Object.fromEntries(states),
    }
  }

const stateOf = async (check: Check, bound: number): Promise<PartState> => {
  try {
    // Through `then`: a check that throws at once is down like one that rejects.
    await within(bound, Promise.resolve().then(check))
    return { ok: true }
  } catch (error) {
    return { ok: false, problem: reasonOf(error) }
  }
}

/** A refused connection to a name with two addresses is an AggregateError without a message of its own. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && !error.message) return error.errors.map(reasonOf).join('; ')
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `: ${reasonOf(error.cause)}`
  return `${error.message || error.name}${cause}`
}
