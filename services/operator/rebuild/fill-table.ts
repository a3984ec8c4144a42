import type { ClickHouse } from '#platform/clickhouse.js'
import type { Kafka, Received } from '#platform/kafka/kafka.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import type { Registry } from '#platform/registry.js'
import { createTableFeed } from '#tables/table-feed.js'
import { patiently } from '../command/decoder.js'
import { readLog } from './read-log.js'
import type { Table } from './tables.js'

export type Filled = {
  events: number
  /** Messages that are no events of this topic, or that nobody can read. */
  skipped: number
  /** The time of the first message that was read of each partition. */
  firstRead: Map<number, number>
}

const blockRows = 50_000
const blockBytes = 16 * 1024 * 1024

/** Writes stretches of a topic into a table, in large blocks. What stands there already, or comes twice, collapses. */
export const fillTable = async (deps: {
  table: Table
  into: string
  label: string
  stretches: readonly Stretch[]
  kafka: Kafka
  registry: Registry
  clickhouse: ClickHouse
  signal: AbortSignal
}): Promise<Filled> => {
  const filled: Filled = { events: 0, skipped: 0, firstRead: new Map() }
  const { clickhouse } = deps
  const { schema } = deps.table
  const feed = createTableFeed({ ...deps, schema, tables: [deps.into], insert: clickhouse.insertAvro })
  let block: Received[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    const full = block
    block = []
    bytes = 0
    const unreadable = await patiently(() => feed.write(full))
    filled.skipped += unreadable.length
    filled.events += full.length - unreadable.length
  }

  await readLog({
    ...deps,
    onMessages: async ({ partition, messages }) => {
      const [first] = messages
      if (first && !filled.firstRead.has(partition)) filled.firstRead.set(partition, first.timestamp)
      for (const message of messages) {
        block.push(message)
        bytes += message.value.length
      }
      if (block.length >= blockRows || bytes >= blockBytes) await flush()
    },
  })
  await flush()
  return filled
}
