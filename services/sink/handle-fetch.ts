import type { Fetch } from '#platform/kafka/kafka.js'
import type { SetAside } from '#platform/kafka/set-aside.js'
import { noTracing, type Tracing, traceMessages } from '#platform/tracing/tracing.js'
import type { Feed } from '#tables/destination.js'
import type { SinkFigures } from './figures.js'

/** Writes one fetch of one partition into its table. Where it rejects, the same messages come again, which changes nothing. */
export const createFetchHandler = (deps: {
  /** By topic. */
  feeds: ReadonlyMap<string, Feed>
  setAside: SetAside
  figures: Pick<SinkFigures, 'fetched' | 'written'>
  tracing?: Tracing
}): ((fetch: Fetch) => Promise<void>) => {
  const { feeds, figures, tracing = noTracing } = deps
  return async (fetch) => {
    const { topic, partition } = fetch
    const feed = feeds.get(topic)
    if (!feed) throw new Error(`no table for ${topic}`)
    figures.fetched(fetch)
    const end = traceMessages(tracing, `insert ${topic}`, fetch.messages)
    const unreadable = await feed.write(fetch.messages).catch((error: unknown) => {
      end(error)
      throw error
    })
    end()
    // After the insert: one that fails again and again would set the same messages aside each time.
    for (const { message, reason } of unreadable) await deps.setAside({ ...message, topic, partition, reason })
    figures.written(fetch)
  }
}
