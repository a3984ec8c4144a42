import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '#platform/health/log.js'
import type { Fetch, Received } from '#platform/kafka/kafka.js'
import type { SetAside } from '#platform/kafka/set-aside.js'
import type { FailAt } from '#platform/process/fail-point.js'
import type { SinkFigures } from './figures.js'
import type { Sorted } from './readable.js'
import type { TableFeed } from './table-feeds.js'

const firstPause = 250
const longestPause = 5_000

/**
 * Writes one fetch of one partition into its table. The offsets are committed when this resolves, so it goes on until
 * ClickHouse has the rows, however long ClickHouse is away.
 */
export const createFetchHandler = (deps: {
  /** By topic. */
  feeds: ReadonlyMap<string, TableFeed>
  setAside: SetAside
  figures: Omit<SinkFigures, 'inserted' | 'check' | 'assigned'>
  failAt: FailAt
  log: Log
  signal: AbortSignal
}): ((fetch: Fetch) => Promise<void>) => {
  const { feeds, figures, log, signal } = deps

  const keepReadable = async ({ topic, partition }: Fetch, { readable, unreadable }: Sorted): Promise<Received[]> => {
    for (const { message, reason } of unreadable) await deps.setAside({ ...message, topic, partition, reason })
    return readable
  }

  return async (fetch) => {
    const { topic, partition } = fetch
    const feed = feeds.get(topic)
    if (!feed) throw new Error(`no table for ${topic}`)
    figures.fetched(fetch)
    for (let messages = fetch.messages, pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        messages = await keepReadable(fetch, await feed.sort(messages))
        if (messages.length > 0) {
          await feed.writer.write(messages.map(({ value }) => value))
          deps.failAt('after-clickhouse-insert')
        }
        figures.written(fetch)
        return
      } catch (error) {
        figures.failed(topic, error as Error)
        log.error({ err: error, topic, partition, rows: messages.length, pause }, 'insert failed, trying again')
        await wait(pause, undefined, { signal })
        if (isClickHousesOwn(error)) messages = await keepReadable(fetch, await feed.lookClosely(messages))
      }
    }
  }
}

// ClickHouse's own errors carry a code and a type. An error without them means that ClickHouse was not reached, and says
// nothing about the messages.
const isClickHousesOwn = (error: unknown): boolean =>
  (error as { code?: string }).code !== undefined && 'type' in (error as object)
