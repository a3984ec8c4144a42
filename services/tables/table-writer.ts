import { toAvroContainer } from '#platform/avro-container.js'
import { groupBy } from '#platform/group-by.js'
import { headerLength, schemaIdOf } from '#platform/registry.js'

export type Insert = (table: string, container: Buffer, rows: number) => Promise<void>
export type TableWriter = {
  /** Resolves once ClickHouse has these rows. Rows that are written at the same moment share one insert. */
  write: (messages: readonly Buffer[]) => Promise<void>
}

type QueuedRows = { messages: readonly Buffer[]; resolve: () => void; reject: (error: Error) => void }

/** A fetch brings each partition to a handler of its own. This joins them again: one insert for each schema. */
export const createTableWriter = (deps: {
  table: string
  writerSchema: (schemaId: number) => Promise<string>
  insert: Insert
}): TableWriter => {
  let waiting: QueuedRows[] = []

  const flush = async (): Promise<void> => {
    const taken = waiting
    waiting = []
    try {
      for (const [schemaId, messages] of groupBy(messagesOf(taken), schemaIdOf)) {
        const container = toAvroContainer(await deps.writerSchema(schemaId), messages, headerLength)
        await deps.insert(deps.table, container, messages.length)
      }
      for (const { resolve } of taken) resolve()
    } catch (error) {
      for (const { reject } of taken) reject(error as Error)
    }
  }

  return {
    write: (messages) =>
      new Promise((resolve, reject) => {
        waiting.push({ messages, resolve, reject })
        if (waiting.length === 1) setImmediate(flush)
      }),
  }
}

const messagesOf = (taken: readonly QueuedRows[]): Buffer[] => taken.flatMap(({ messages }) => messages)
