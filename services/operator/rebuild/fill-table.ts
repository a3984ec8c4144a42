import { hasValue, type Valued } from '#platform/kafka/kafka.js'
import { createTableFeed } from '#tables/table-feed.js'
import { patiently } from '../command/decoder.js'
import type { Parts } from '../command/servers.js'
import { type GoneRecords, noteGone } from './gone.js'
import { readLog } from './read-log.js'
import type { Table } from './tables.js'

/**
 * `skipped`: messages that cannot be decoded. `firstRead`: the time of the first message that was read of each partition. `gone`: records
 * of which one of the messages without a value was read; their rows are still in the table.
 */
export type Filled = {
  events: number
  skipped: number
  firstRead: Map<number, number>
  withoutValue: number
  gone: GoneRecords
}

const blockRows = 50_000
const blockBytes = 16 * 1024 * 1024

/** Writes stretches of a topic into a table, in large blocks. What stands there already, or comes twice, collapses. */
export const fillTable = async (
  deps: Omit<Parts, 'pool'> &
    Omit<Parameters<typeof readLog>[0], 'onMessages'> & { table: Table; into: string; gone?: GoneRecords },
): Promise<Filled> => {
  const filled: Filled = { events: 0, skipped: 0, firstRead: new Map(), withoutValue: 0, gone: deps.gone ?? new Map() }
  const { schema, id } = deps.table
  const feed = createTableFeed({ ...deps, schema, tables: [deps.into], insert: deps.clickhouse.insertAvro })
  let block: Valued[] = []
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
        if (id !== undefined) noteGone(filled.gone, message)
        if (!hasValue(message)) {
          filled.withoutValue++
          continue
        }
        block.push(message)
        bytes += message.value.length
      }
      if (block.length >= blockRows || bytes >= blockBytes) await flush()
    },
  })
  await flush()
  return filled
}
