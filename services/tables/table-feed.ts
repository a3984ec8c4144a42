import type { ClickHouse } from '#platform/clickhouse.js'
import type { Received, Valued } from '#platform/kafka/kafka.js'
import type { Registry } from '#platform/registry.js'
import type { Feed, UnreadableMessage } from './destination.js'
import { createCloseLook, createFindColumns, createSort, type Sorted } from './readable.js'
import { createTableWriter, type Insert, type TableWriter } from './table-writer.js'

/** The way of events with this schema into a table of ClickHouse, and so into those that ClickHouse itself feeds from it. */
export const createTableFeed = (deps: {
  schema: { namespace: string; name: string }
  tables: readonly [into: string, ...fed: string[]]
  registry: Registry
  clickhouse: Pick<ClickHouse, 'query'>
  insert: Insert
  onFailed?: () => void
}): Feed => {
  const { schema, tables, registry } = deps
  return createFeed({
    writer: createTableWriter({ table: tables[0], writerSchema: registry.writerSchema, insert: deps.insert }),
    sort: createSort(registry, `${schema.namespace}.${schema.name}`, createFindColumns(deps.clickhouse, tables)),
    lookClosely: createCloseLook(registry.decoder(schema, { whole: true })),
    onFailed: deps.onFailed,
  })
}

/** Writes what can be written, and returns the rest. */
export const createFeed = (deps: {
  writer: TableWriter
  /** A quick look at every message; `lookClosely` is for messages whose insert failed. */
  sort: (messages: readonly Received[]) => Promise<Sorted>
  lookClosely: (messages: readonly Received[]) => Promise<Sorted>
  onFailed?: (() => void) | undefined
}): Feed => {
  const write = async (readable: readonly Valued[]): Promise<void> => {
    if (readable.length > 0) await deps.writer.write(readable.map(({ value }) => value))
  }
  return {
    write: async (messages): Promise<UnreadableMessage[]> => {
      const { readable, unreadable } = await deps.sort(messages)
      try {
        await write(readable)
        return unreadable
      } catch (error) {
        deps.onFailed?.()
        if (!isClickHousesOwn(error)) throw error
        const closely = await deps.lookClosely(readable)
        // Nothing is wrong with the messages: it is the table, and only time or an operator mends it.
        if (closely.unreadable.length === 0) throw error
        await write(closely.readable)
        return [...unreadable, ...closely.unreadable]
      }
    },
  }
}

// ClickHouse's own errors carry a code and a type. One without them says nothing about the messages.
const isClickHousesOwn = (error: unknown): boolean =>
  (error as { code?: string }).code !== undefined && 'type' in (error as object)
