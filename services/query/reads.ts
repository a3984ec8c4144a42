import { type RequestError, requestError, Unavailable } from '#http/request-error.js'
import { createTally } from '#platform/process/tally.js'
import { createTurns } from '#platform/process/turns.js'
import { TooManyRetried } from '#rejections/in-state.js'

/** Reads for an organisation when its turn comes; what is wrong with the question is a value. */
export type Reads = <T>(orgId: string, read: () => Promise<T>) => Promise<T | { error: RequestError }>

/** How many questions of one kind are answered at once: of all organisations and of one, which then slows down only itself. */
export type ReadBounds = { atOnce: number; ofOne: number }
export const usual: ReadBounds = { atOnce: 8, ofOne: 4 }
const mostWaiting = 100

/** `patience` is how many milliseconds a question waits for its turn; `what` is what it is about, for the answer. */
export const createReads = (patience = 10_000, what = 'rejections', most: ReadBounds = usual): Reads => {
  const running = createTally()
  const waiting = createTally()
  const mayBegin = (orgId: string): boolean => running.all() < most.atOnce && running.of(orgId) < most.ofOne
  const turns = createTurns(mayBegin, patience)

  /** Whether its turn came: from then on it counts as running. */
  const begin = async (orgId: string): Promise<boolean> => {
    if (waiting.of(orgId) >= mostWaiting) return false
    waiting.add(orgId, 1)
    const begun = await turns.take(orgId, async () => {
      running.add(orgId, 1)
      return true
    })
    waiting.add(orgId, -1)
    return begun ?? false
  }

  return async (orgId, read) => {
    if (!(await begin(orgId))) throw new Unavailable(`too much is asked about ${what} at this moment`)
    try {
      return await read()
    } catch (cause) {
      if (isTooMuch(cause)) return { error: tooMuch }
      throw new Unavailable(`${what} cannot be read at the moment`, { cause })
    } finally {
      running.add(orgId, -1)
      turns.wake()
    }
  }
}

// TOO_MANY_ROWS and MEMORY_LIMIT_EXCEEDED: the same question would fail the same way.
const isTooMuch = (error: unknown): boolean =>
  error instanceof TooManyRetried || ['158', '241'].includes(String((error as { code?: unknown }).code))

const tooMuch = requestError(
  400,
  'this asks for more than can be read at once; ask for less, with a type and a shorter time between since and until',
)
