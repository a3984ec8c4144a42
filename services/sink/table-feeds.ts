import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { acceptedTopic, logTableOf, rejectedTopic, rejectionsLog, subjectOf } from '#schemas/derive/names.js'
import type { Lane } from './handle-fetch.js'
import { createCloseLook, createSort } from './readable.js'
import { createTableWriter, type Insert } from './table-writer.js'

/** Every topic that ends in a table, and its way there. Needs the registry; once opened, they do without it. */
export const openLanes = async (
  catalogue: Catalogue,
  registry: Registry,
  insert: Insert,
): Promise<Map<string, Lane>> => {
  const schemas = schemasByTopic(catalogue.all.values())
  const laneOf = async (topic: string, table: string): Promise<[string, Lane]> => {
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
      ...[...catalogue.all.keys()].map((type) => laneOf(acceptedTopic(type), logTableOf(type))),
      laneOf(rejectedTopic, rejectionsLog),
    ]),
  )
}
