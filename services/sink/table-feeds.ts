import type { Received } from '#platform/kafka/kafka.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { acceptedTopic, logTableOf, rejectedTopic, rejectionsLog, subjectOf } from '#schemas/derive/names.js'
import { createCloseLook, createSort, type Sorted } from './readable.js'
import { createTableWriter, type Insert, type TableWriter } from './table-writer.js'

/** How the events of one topic get into its table. */
export type TableFeed = {
  writer: TableWriter
  /** A quick look at every message; `lookClosely` is for messages whose insert failed. */
  sort: (messages: readonly Received[]) => Promise<Sorted>
  lookClosely: (messages: readonly Received[]) => Promise<Sorted>
}

/** A feed for every topic that ends in a table. Opening them needs the registry; from then on they do without it. */
export const openTableFeeds = async (
  catalogue: Catalogue,
  registry: Registry,
  insert: Insert,
): Promise<Map<string, TableFeed>> => {
  const schemas = schemasByTopic(catalogue.all.values())
  const feedOf = async (topic: string, table: string): Promise<[string, TableFeed]> => {
    const schema = schemas.get(topic) as { namespace: string; name: string }
    await registry.prepare(subjectOf(topic), schema)
    return [
      topic,
      {
        writer: createTableWriter({ table, writerSchema: registry.writerSchema, insert }),
        sort: createSort(registry, `${schema.namespace}.${schema.name}`),
        lookClosely: createCloseLook(registry.decoder(schema)),
      },
    ]
  }
  return new Map(
    await Promise.all([
      ...[...catalogue.all.keys()].map((type) => feedOf(acceptedTopic(type), logTableOf(type))),
      feedOf(rejectedTopic, rejectionsLog),
    ]),
  )
}
