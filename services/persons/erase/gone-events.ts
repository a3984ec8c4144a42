import type { Erasure } from '#ledger/erasures/erasures.js'
import type { Generation } from '#ledger/layout/layout.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { groupBy } from '#platform/group-by.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Producer } from '#platform/kafka/producer.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { quote } from '#schemas/derive/clickhouse/columns.js'
import * as names from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import { maskedFieldsOf, staysWithoutPerson } from '#schemas/persons/about-persons.js'
import { columnsOf, type RecordType } from '#schemas/record.js'
import { holdingLanes, keysAtOnce } from '../remove/holding-lanes.js'
import type { Named } from './read-topics.js'
import type { WhoIsNamed } from './who-is-named.js'

export type GoneDeps = {
  pool: Pool
  kafka: Kafka
  registry: Registry
  clickhouse: ClickHouse
  producer: Pick<Producer, 'send'>
  catalogue: Catalogue
  generations: readonly Generation[]
  signal: AbortSignal
}

/**
 * Takes persons out of the accepted topics: the newest event of each of their records is followed by one without a value, or, where the record
 * may stay, by one without the person. A record that names somebody else by now keeps its newest event; its older ones go by compaction.
 */
export const publishGone = async (
  deps: GoneDeps,
  named: readonly Named[],
  whoIsNamed: WhoIsNamed,
  erasures: ReadonlyMap<string, Erasure>,
): Promise<void> => {
  for (const type of deps.catalogue.all.values()) {
    const topic = names.acceptedTopic(type.type)
    const own = named.filter((each) => each.topic === topic && each.value !== null)
    const isOfWhole = (each: Named): boolean =>
      [...each.erasures].some((id) => erasures.get(id)?.mode === 'organisation')
    await publishAllGone(deps, topic, own.filter(isOfWhole))
    const ofPersons = own.filter((each) => !isOfWhole(each))
    if (ofPersons.length > 0) await publishGoneOf(deps, type, ofPersons, whoIsNamed, erasures)
  }
}

/** Of an organisation that is deleted nothing newer can come. */
const publishAllGone = async ({ producer, signal }: GoneDeps, topic: string, all: readonly Named[]): Promise<void> => {
  for (const [partition, here] of groupBy(all, (each) => each.partition)) {
    const keys = [...new Set(here.map(({ key }) => key ?? ''))]
    for (let from = 0; from < keys.length; from += keysAtOnce) {
      signal.throwIfAborted()
      await producer.send(
        topic,
        partition,
        keys.slice(from, from + keysAtOnce).map((key) => ({ key, value: null })),
      )
    }
  }
}

const publishGoneOf = async (
  deps: GoneDeps,
  type: RecordType,
  named: readonly Named[],
  whoIsNamed: WhoIsNamed,
  erasures: ReadonlyMap<string, Erasure>,
): Promise<void> => {
  const topic = names.acceptedTopic(type.type)
  const encode = await deps.registry.encoder<AcceptedEvent>(names.subjectOf(topic), acceptedSchema(type))
  const mayStay = staysWithoutPerson(type)
  const afterwards = ({ whose, event }: NewestEvent): Buffer | null =>
    mayStay && [...whose].every((id) => erasures.get(id)?.mode === 'pseudonymise')
      ? encode(withoutPerson(type, event))
      : null
  const all = [...(await newestOf(deps, type, named)).values()]
  for (let from = 0; from < all.length; from += keysAtOnce) {
    const some = all.slice(from, from + keysAtOnce)
    await holdingLanes(deps, type, async (_, deadline) => {
      const events = some.map(({ event }) => event)
      const left = await stillNaming(deps, type, events, whoIsNamed)
      const gone = some.filter(({ key }) => left.has(key))
      for (const [partition, here] of groupBy(gone, (each) => each.partition))
        await deps.producer.send(
          topic,
          partition,
          here.map((each) => ({ key: each.key, value: afterwards(each) })),
          { deadline },
        )
    })
  }
}

/** The newest event of a record that names somebody, and the erasures of those whom it names. */
type NewestEvent = { key: string; partition: number; whose: ReadonlySet<string>; event: AcceptedEvent }

const newestOf = async (
  { registry }: GoneDeps,
  type: RecordType,
  named: readonly Named[],
): Promise<Map<string, NewestEvent>> => {
  const decode = registry.decoder<AcceptedEvent>(acceptedSchema(type))
  const newest = new Map<string, NewestEvent>()
  for (const { partition, value, erasures: whose, ...each } of named) {
    const event = await decode(value)
    const key = each.key ?? ''
    if ((newest.get(key)?.event.version ?? -1) < event.version) newest.set(key, { key, partition, whose, event })
  }
  return newest
}

/** A version of its own, so that it takes the place of the event that it is made of. */
const withoutPerson = (type: RecordType, event: AcceptedEvent): AcceptedEvent => {
  const columns = columnsOf(type)
  const masked = maskedFieldsOf(type).filter((field) => columns[field]?.required === false)
  return { ...event, ...Object.fromEntries(masked.map((field) => [field, null])), version: event.version + 1 }
}

/** The keys of those records whose newest version names one of the persons. */
const stillNaming = async (
  { clickhouse }: GoneDeps,
  type: RecordType,
  events: readonly AcceptedEvent[],
  whoIsNamed: WhoIsNamed,
): Promise<Set<string>> => {
  const id = quote(type.id)
  const fields = Object.entries(columnsOf(type)).flatMap(([field, { ofPerson }]) =>
    typeof ofPerson === 'object' ? [field] : [],
  )
  const named = new Set<string>()
  const idsOf = groupBy(events, ({ org_id }) => org_id)
  for (const [org, own] of idsOf) {
    const ids = own.map((event) => String((event as Record<string, unknown>)[type.id]))
    const rows = await clickhouse.query<{ id: string; names: string[] }>(
      `select toString(${id}) as id,
        argMax([${fields.map((field) => `ifNull(toString(${quote(field)}), '')`)}], version) as names
      from ${names.database}.${names.logTableOf(type.type)}
      where org_id = {org:String} and ${id} in {ids:Array(UUID)}
      group by ${id}`,
      { org, ids },
    )
    const known = new Set(rows.map((row) => row.id))
    for (const row of rows) if (whoIsNamed.of(org, row.names).size > 0) named.add(names.entityKey(org, row.id))
    // What ClickHouse no longer has, as after an erasure that was broken off, goes by what the topic says.
    for (const each of ids) if (!known.has(each)) named.add(names.entityKey(org, each))
  }
  return named
}
