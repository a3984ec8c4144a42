import type { Fetch } from '#platform/kafka/kafka.js'
import type { SetAside } from '#platform/kafka/set-aside.js'
import type { FailAt } from '#platform/process/fail-point.js'
import type { Sorted } from '#tables/readable.js'
import type { TableFeed } from '#tables/table-feeds.js'
import type { SinkFigures } from './figures.js'

/**
 * Writes one fetch of one partition into its table. The offsets are committed when this resolves. Where it rejects, the same
 * messages come again, so rows may be written twice, which changes nothing.
 */
export const createFetchHandler = (deps: {
  /** By topic. */
  feeds: ReadonlyMap<string, TableFeed>
  setAside: SetAside
  figures: Omit<SinkFigures, 'inserted' | 'assigned'>
  failAt: FailAt
}): ((fetch: Fetch) => Promise<void>) => {
  const { feeds, figures } = deps

  const write = async ({ writer }: TableFeed, { readable }: Sorted): Promise<void> => {
    if (readable.length === 0) return
    await writer.write(readable.map(({ value }) => value))
    deps.failAt('after-clickhouse-insert')
  }

  /** Writes what can be written, and returns the rest. */
  const writeReadable = async (feed: TableFeed, { topic, messages }: Fetch): Promise<Sorted['unreadable']> => {
    const sorted = await feed.sort(messages)
    try {
      await write(feed, sorted)
      return sorted.unreadable
    } catch (error) {
      figures.failed(topic)
      if (!isClickHousesOwn(error)) throw error
      const closely = await feed.lookClosely(sorted.readable)
      // Nothing is wrong with the messages: it is the table, and only time or an operator mends it.
      if (closely.unreadable.length === 0) throw error
      await write(feed, closely)
      return [...sorted.unreadable, ...closely.unreadable]
    }
  }

  return async (fetch) => {
    const { topic, partition } = fetch
    const feed = feeds.get(topic)
    if (!feed) throw new Error(`no table for ${topic}`)
    figures.fetched(fetch)
    const unreadable = await writeReadable(feed, fetch)
    // After the insert: one that fails again and again would set the same messages aside each time.
    for (const { message, reason } of unreadable) await deps.setAside({ ...message, topic, partition, reason })
    figures.written(fetch)
  }
}

// ClickHouse's own errors carry a code and a type. An error without them means that ClickHouse was not reached, and says
// nothing about the messages.
const isClickHousesOwn = (error: unknown): boolean =>
  (error as { code?: string }).code !== undefined && 'type' in (error as object)
