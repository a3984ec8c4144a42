import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '#platform/health/log.js'
import type { Fetch, Received } from '#platform/kafka/kafka.js'
import type { SetAside } from '#platform/kafka/set-aside.js'
import type { FailAt } from '#platform/process/fail-point.js'
import type { Figures } from './figures.js'
import type { Sorted } from './readable.js'
import type { TableWriter } from './table-writer.js'

/** One topic's way into its table. */
export type Lane = {
  writer: TableWriter
  /** A quick look at each message, and a close one at those that an insert failed with. */
  sort: (messages: readonly Received[]) => Promise<Sorted>
  lookClosely: (messages: readonly Received[]) => Promise<Sorted>
}

const firstPause = 250
const longestPause = 5_000

/** Offsets are committed when this resolves, so it goes on until ClickHouse has the rows, however long that is away. */
export const createFetchHandler = (deps: {
  lanes: ReadonlyMap<string, Lane>
  setAside: SetAside
  figures: Figures
  failAt: FailAt
  log: Log
  signal: AbortSignal
}): ((fetch: Fetch) => Promise<void>) => {
  const { lanes, figures, log, signal } = deps

  const keepReadable = async ({ topic, partition }: Fetch, { readable, unreadable }: Sorted): Promise<Received[]> => {
    for (const { message, reason } of unreadable) await deps.setAside({ ...message, topic, partition, reason })
    return readable
  }

  return async (fetch) => {
    const { topic, partition } = fetch
    const lane = lanes.get(topic)
    if (!lane) throw new Error(`no table for ${topic}`)
    figures.fetched(fetch)
    for (let messages = fetch.messages, pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        messages = await keepReadable(fetch, await lane.sort(messages))
        if (messages.length > 0) {
          await lane.writer.write(messages.map(({ value }) => value))
          deps.failAt('after-clickhouse-insert')
        }
        figures.written(fetch)
        return
      } catch (error) {
        figures.failed(topic, error as Error)
        log.error({ err: error, topic, partition, rows: messages.length, pause }, 'insert failed, trying again')
        await wait(pause, undefined, { signal })
        // ClickHouse gives its own errors a code; without one it was not reached.
        if ((error as { code?: string }).code !== undefined && 'type' in (error as object)) {
          messages = await keepReadable(fetch, await lane.lookClosely(messages))
        }
      }
    }
  }
}
