import type { Entity } from '#ledger/entities.js'
import { insertRebuilt } from '#ledger/rebuilt-entities.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { createDecoder } from '../desk/decoder.js'
import { type Handed, readLog } from './read-log.js'

const blockRows = 5000

/** Fills the new index from the accepted topics, and tells how many of their messages nobody can read. */
export const fillIndex = async (deps: {
  catalogue: Catalogue
  kafka: Kafka
  registry: Registry
  pool: Pool
  signal: AbortSignal
}): Promise<{ undecodable: number }> => {
  const readers = new Map([...deps.catalogue.referenced].map((type) => readerOf(deps, type)))
  const stretches = await stretchesOf(deps.kafka, [...readers.keys()])
  let undecodable = 0
  const connection = await deps.pool.connect()
  // Partitions are read side by side, and a connection does one thing at a time.
  let inserted = Promise.resolve()
  try {
    const onMessages = async ({ topic, messages }: Handed): Promise<void> => {
      const rows: Entity[] = []
      for (const { value } of messages) {
        const row = await readers.get(topic)?.(value)
        if (row) rows.push(row)
        else undecodable++
      }
      for (let from = 0; from < rows.length; from += blockRows) {
        const block = rows.slice(from, from + blockRows)
        inserted = inserted.then(() => insertRebuilt(connection, block))
        await inserted
      }
    }
    await readLog({ ...deps, stretches, label: 'accepted topics', onMessages })
    // Without figures of its size, Postgres might read all of it for each look-up.
    await connection.query('vacuum (analyze) integrity.entities_rebuilt')
  } finally {
    connection.release()
  }
  return { undecodable }
}

type Reader = (message: Buffer) => Promise<Entity | undefined>

const readerOf = (deps: { catalogue: Catalogue; registry: Registry }, name: string): [string, Reader] => {
  const type = deps.catalogue.all.get(name) as RecordType
  const decode = createDecoder<AcceptedEvent>(deps.registry, acceptedSchema(type))
  const read: Reader = async (message) => {
    const event = await decode(message)
    return event && { orgId: event.org_id, type: name, id: String(event[type.id]) }
  }
  return [acceptedTopic(name), read]
}
