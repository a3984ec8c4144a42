import type { ClickHouse } from '#platform/clickhouse.js'
import type { Received } from '#platform/kafka/kafka.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import {
  acceptedTopic,
  currentTableOf,
  database,
  logTableOf,
  rejectedTopic,
  rejectionsLog,
  subjectOf,
  waitingLog,
  waitingTopic,
} from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { createCloseLook, createFindColumns, createSort, type Sorted } from './readable.js'
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
  clickhouse: Pick<ClickHouse, 'query'>,
  insert: Insert,
): Promise<Map<string, TableFeed>> => {
  const schemas = schemasByTopic(catalogue.all.values())
  /** `fed` is a table that ClickHouse itself fills with what is inserted. */
  const feedOf = async (topic: string, table: string, fed: string[] = []): Promise<[string, TableFeed]> => {
    const schema = schemas.get(topic) as { namespace: string; name: string }
    await registry.prepare(subjectOf(topic), schema)
    return [
      topic,
      {
        writer: createTableWriter({ table, writerSchema: registry.writerSchema, insert }),
        sort: createSort(
          registry,
          `${schema.namespace}.${schema.name}`,
          createFindColumns(clickhouse, [qualified(table), ...fed.map(qualified)]),
        ),
        lookClosely: createCloseLook(registry.decoder(schema, { whole: true })),
      },
    ]
  }
  return new Map(
    await Promise.all([
      ...[...catalogue.all.values()].map((type) =>
        feedOf(acceptedTopic(type.type), logTableOf(type.type), fedBy(type)),
      ),
      feedOf(rejectedTopic, rejectionsLog),
      feedOf(waitingTopic, waitingLog),
    ]),
  )
}

const qualified = (table: string): string => `${database}.${table}`

const fedBy = (type: RecordType): string[] => (hasVersions(type) ? [currentTableOf(type.type)] : [])
