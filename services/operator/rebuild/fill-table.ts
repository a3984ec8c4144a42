import type { ClickHouse } from '#platform/clickhouse.js'
import type { Kafka, Received } from '#platform/kafka/kafka.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import type { Registry } from '#platform/registry.js'
import { createCloseLook, createFindColumns, createSort } from '#tables/readable.js'
import { createTableWriter } from '#tables/table-writer.js'
import { isAnswer, patiently } from '../command/decoder.js'
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
  const { table, registry } = deps
  const filled: Filled = { events: 0, skipped: 0, firstRead: new Map() }
  const findColumns = createFindColumns(deps.clickhouse, [deps.into])
  const sort = createSort(registry, `${table.schema.namespace}.${table.schema.name}`, findColumns)
  const lookClosely = createCloseLook(registry.decoder(table.schema, { whole: true }))
  const writer = createTableWriter({
    table: deps.into,
    writerSchema: (id) => patiently(() => registry.writerSchema(id)),
    insert: (into, container) => patiently(() => deps.clickhouse.insertAvro(into, container)),
  })

  const write = async (messages: readonly Received[]): Promise<void> => {
    if (messages.length === 0) return
    try {
      await writer.write(messages.map(({ value }) => value))
      filled.events += messages.length
    } catch (error) {
      if (!isAnswer(error)) throw error
      const { readable, unreadable } = await patiently(() => lookClosely(messages))
      if (unreadable.length === 0) throw error
      filled.skipped += unreadable.length
      await write(readable)
    }
  }

  let block: Received[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    const full = block
    block = []
    bytes = 0
    await write(full)
  }

  await readLog({
    ...deps,
    onMessages: async ({ partition, messages }) => {
      const [first] = messages
      if (first && !filled.firstRead.has(partition)) filled.firstRead.set(partition, first.timestamp)
      const { readable, unreadable } = await patiently(() => sort(messages))
      filled.skipped += unreadable.length
      for (const message of readable) {
        block.push(message)
        bytes += message.value.length
      }
      if (block.length >= blockRows || bytes >= blockBytes) await flush()
    },
  })
  await flush()
  return filled
}
