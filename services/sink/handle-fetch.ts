import { setTimeout as wait } from 'node:timers/promises'
import type { Fetch } from '#platform/kafka.js'
import type { Log } from '#platform/log.js'
import type { Figures } from './figures.js'
import type { TableWriter } from './table-writer.js'

const firstPause = 250
const longestPause = 5_000

/** Offsets are committed when this resolves, so it goes on until ClickHouse has the rows, however long that is away. */
export const createFetchHandler = (deps: {
  writers: ReadonlyMap<string, TableWriter>
  figures: Figures
  log: Log
  signal: AbortSignal
}): ((fetch: Fetch) => Promise<void>) => {
  const { writers, figures, log, signal } = deps
  return async (fetch) => {
    const { topic, partition } = fetch
    const writer = writers.get(topic)
    if (!writer) throw new Error(`no table for ${topic}`)
    const messages = fetch.messages.map(({ value }) => value)
    figures.fetched(fetch)
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      try {
        await writer.write(messages)
        figures.written(fetch)
        return
      } catch (error) {
        figures.failed(topic, error as Error)
        log.error({ err: error, topic, partition, rows: messages.length, pause }, 'insert failed, trying again')
        await wait(pause, undefined, { signal })
      }
    }
  }
}
