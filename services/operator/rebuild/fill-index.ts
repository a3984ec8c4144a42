import type { Entity } from '#ledger/entities.js'
import { type Generation, publishedOf } from '#ledger/layout/layout.js'
import { type Cursor, insertRebuilt } from '#ledger/mending/rebuilt-entities.js'
import { groupBy } from '#platform/group-by.js'
import { committedByPlace } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { type Stretch, stretchesOf } from '#platform/kafka/read-topics.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { acceptedTopic, generationOfSubmitted, integrityGroupOf } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { createDecoder } from '../command/decoder.js'
import { OperatorError } from '../command/operator-error.js'
import type { Parts } from '../command/servers.js'
import { until } from '../command/until.js'
import { type Handed, readLog } from './read-log.js'

const blockRows = 5000

/** Fills the new index from the accepted topics, and counts their messages that cannot be decoded. */
export const fillIndex = async (
  deps: Omit<Parts, 'clickhouse'> & { catalogue: Catalogue; signal: AbortSignal },
): Promise<{ undecodable: number }> => {
  const readers = new Map([...deps.catalogue.referenced].map((type) => readerOf(deps, type)))
  const stretches = await stretchesOf(deps.kafka, [...readers.keys()])
  const gone = await findGone(deps, stretches)
  let undecodable = 0
  const connection = await deps.pool.connect()
  // Partitions are read side by side, but a connection does one thing at a time: inserts wait for each other.
  let inserted = Promise.resolve()
  try {
    const onMessages = async ({ topic, messages }: Handed): Promise<void> => {
      const rows: Entity[] = []
      for (const { key, offset, value } of messages) {
        if (offset <= (gone.get(`${topic} ${key}`) ?? -1)) continue
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
    // Until Postgres knows how large the table is, it might read all of it for each look-up.
    await connection.query('vacuum (analyze) integrity.entities_rebuilt')
  } finally {
    connection.release()
  }
  return { undecodable }
}

/**
 * Where the last message without a value of each key is, by topic and key: from there on the record was not there. Looked for before
 * anything is inserted, since a row cannot be taken back: integrity may have added the same one, for a record that came again.
 */
const findGone = async (
  deps: Pick<Parts, 'kafka'> & { signal: AbortSignal },
  stretches: readonly Stretch[],
): Promise<Map<string, number>> => {
  const gone = new Map<string, number>()
  const onMessages = async ({ topic, messages }: Handed): Promise<void> => {
    for (const { key, offset, value } of messages)
      if (key !== null && value === null) gone.set(`${topic} ${key}`, offset)
  }
  await readLog({ ...deps, stretches, label: 'records that are gone', onMessages })
  return gone
}

type Reader = (message: Buffer | null) => Promise<Entity | undefined>

const readerOf = (deps: Pick<Parts, 'registry'> & { catalogue: Catalogue }, name: string): [string, Reader] => {
  const type = deps.catalogue.all.get(name) as RecordType
  const decode = createDecoder<AcceptedEvent>(deps.registry, acceptedSchema(type))
  const read: Reader = async (message) => {
    const event = await decode(message)
    return event && { orgId: event.org_id, type: name, id: String(event[type.id]) }
  }
  return [acceptedTopic(name), read]
}

const longestStandstill = 60_000

/**
 * Waits until the accepted topics hold all that was decided below these cursors: integrity commits its place in the submitted
 * log once everything below that place is published. Gives up when integrity stands still for `patience` milliseconds.
 */
export const waitUntilPublished = async (
  kafka: Kafka,
  cursors: readonly Cursor[],
  generations: readonly Generation[],
  signal: AbortSignal,
  patience = longestStandstill,
): Promise<void> => {
  let least = Number.POSITIVE_INFINITY
  let since = Date.now()
  const look = async (): Promise<boolean> => {
    const unpublished = await countUnpublished(kafka, cursors, generations)
    if (unpublished < least) since = Date.now()
    least = Math.min(least, unpublished)
    if (unpublished > 0 && Date.now() - since > patience)
      throw new OperatorError(
        `integrity has decided ${unpublished} batches that it has not published: start it, then try again`,
      )
    return unpublished === 0
  }
  await until(look, { every: 250, signal })
}

const countUnpublished = async (
  kafka: Kafka,
  cursors: readonly Cursor[],
  generations: readonly Generation[],
): Promise<number> => {
  const finished = new Map(publishedOf(generations).map((each) => [placeOf(each), each.offset]))
  const groups = [...groupBy(cursors, ({ topic }) => generationOfSubmitted(topic))].map(([generation, some]) => ({
    // Integrity's group for uploads; no record refers to an interaction.
    groupId: integrityGroupOf(undefined, generation),
    topics: [...new Set(some.map(({ topic }) => topic))],
  }))
  const committed = new Map([...(await committedByPlace(kafka, groups)), ...finished])
  return cursors.reduce(
    (sum, cursor) => sum + Math.max(0, cursor.next_offset - (committed.get(placeOf(cursor)) ?? 0)),
    0,
  )
}
