import type { Reader } from '#rejections/find-rejections.js'
import { type RequestError, requestError, Unavailable } from '../http/request-error.js'

/** Does a read for an organisation, if there is room for it; what is wrong with the question is a value. */
export type Reads = <T>(orgId: string, read: () => Promise<T>) => Promise<T | { error: RequestError }>

// Of all and of one organisation: whoever asks in an endless loop slows down only itself. Uploads read nothing here.
const mostAtOnce = 8
const mostOfOne = 3

export const createReads = (): Reads => {
  let count = 0
  const countOf = new Map<string, number>()
  const add = (orgId: string, more: number): void => {
    count += more
    const sum = (countOf.get(orgId) ?? 0) + more
    if (sum > 0) countOf.set(orgId, sum)
    else countOf.delete(orgId)
  }
  return async (orgId, read) => {
    if ((countOf.get(orgId) ?? 0) >= mostOfOne)
      throw new Unavailable(
        `your organisation asks ${mostOfOne} things about rejections at this moment, which is the most`,
      )
    if (count >= mostAtOnce) throw new Unavailable('too many ask about rejections at this moment')
    add(orgId, 1)
    try {
      return await read()
    } catch (cause) {
      if (isTooMuch(cause)) return { error: tooMuch }
      throw new Unavailable('rejections cannot be read at the moment', { cause })
    } finally {
      add(orgId, -1)
    }
  }
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
