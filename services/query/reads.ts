import { type RequestError, requestError, Unavailable } from '#http/request-error.js'
import { createTurns } from '#platform/process/turns.js'
import type { Reader } from '#rejections/find-rejections.js'

/** Reads for an organisation when its turn comes; what is wrong with the question is a value. */
export type Reads = <T>(orgId: string, read: () => Promise<T>) => Promise<T | { error: RequestError }>

// Of all and of one organisation: whoever asks in an endless loop slows down only itself. Uploads read nothing here.
const usual = { atOnce: 8, ofOne: 4 }
const mostWaiting = 100

/** `patience` is how many milliseconds a question waits for its turn; `what` is what it is about, for the answer. */
export const createReads = (patience = 10_000, what = 'rejections', most = usual): Reads => {
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

/** A number for each organisation, and for all of them; one that has none is forgotten. */
const createTally = () => {
  let sum = 0
  const counts = new Map<string, number>()
  const of = (orgId: string): number => counts.get(orgId) ?? 0
  const add = (orgId: string, more: number): void => {
    sum += more
    const own = of(orgId) + more
    if (own > 0) counts.set(orgId, own)
    else counts.delete(orgId)
  }
  return { of, add, all: () => sum }
}

// Less than the edge waits for an answer: ClickHouse itself ends a read that nobody waits for any more.
const bounds = {
  max_execution_time: 9,
  max_threads: 2,
  max_memory_usage: 1_000_000_000,
  max_rows_to_read: 200_000_000,
}

/** A reader whose queries are bounded, so that no question keeps ClickHouse from its work. */
export const boundedReader = (clickhouse: Reader): Reader => ({
  query: (sql, values, settings) => clickhouse.query(sql, values, { ...bounds, ...settings }),
})

// TOO_MANY_ROWS and MEMORY_LIMIT_EXCEEDED: the same question would fail the same way.
const isTooMuch = (error: unknown): boolean => ['158', '241'].includes(String((error as { code?: unknown }).code))

const tooMuch = requestError(
  400,
  'this asks for more than can be read at once; ask for less, with a type and a shorter time between since and until',
)
