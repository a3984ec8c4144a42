import type { Counted } from '#ledger/erasures/erasures.js'
import { objectIn } from '#ledger/erasures/is-erased.js'
import { rollKey } from '#platform/kafka/admin/removal.js'
import type { Kafka, Received } from '#platform/kafka/kafka.js'
import { placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import { readTopics, type Stretch } from '#platform/kafka/read-topics.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { acceptedSchema, rejectedSchema, submittedSchema, verdictSchema } from '#schemas/derive/avro.js'
import * as names from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import { personFieldsOf, typesOfPersons } from '#schemas/persons/about-persons.js'
import type { RecordType } from '#schemas/record.js'
import { bytesSetAside, ofNobodyKnown } from '#schemas/set-aside.js'
import { uuidsIn } from '#schemas/uuid.js'
import { createGivingWay } from '../remove/giving-way.js'
import { createHasSharedKey, unlessUndecodable } from '../remove/shared-keys.js'
import type { Sought } from './sought.js'
import type { WhoIsNamed } from './who-is-named.js'

/** A message that names persons who are sought. `value`: an accepted event; of all others only whether there is one. */
export type Named = TopicPartition & Pick<Received, 'key' | 'value' | 'offset'> & { erasures: ReadonlySet<string> }

/** What of a topic it takes to see whether it may be compacted: messages of an older Weir share their keys. */
export type ReadTopics = {
  named: Named[]
  /** How many messages with a value each erasure has in each topic, also where there are more than are named. */
  counts: Map<string, Counted[]>
  sharedKeys: Map<string, number>
  stretches: Stretch[]
}

// Of a large organisation there is more than fits into memory: the rest is found by the proof, and removed by the next run.
const mostNamed = 2_000_000

/**
 * Every topic in which those who are sought may be named. The submitted topics of all types: what was refused there may be anything. Accepted
 * records that name nobody are of interest where a whole organisation goes.
 */
export const topicsOf = async (
  kafka: Kafka,
  catalogue: Catalogue,
  sought: readonly Pick<Sought, 'whole'>[],
): Promise<string[]> => {
  const there = await kafka.withAdmin((admin) => admin.listTopics())
  const types = sought.some(({ whole }) => whole.length > 0) ? [...catalogue.all.values()] : typesOfPersons(catalogue)
  const accepted = new Set(types.map(({ type }) => names.acceptedTopic(type)))
  const others = new Set<string>([names.rejectedTopic, names.waitingTopic, names.verdictsTopic])
  return there
    .filter((topic) => accepted.has(topic) || others.has(topic) || topic.startsWith(names.submittedTopic('')))
    .sort()
}

/** Reads topics from end to end, or these stretches of them. */
export const readForPersons = async (
  deps: { kafka: Kafka; registry: Pick<Registry, 'decoder'>; catalogue: Catalogue },
  stretches: readonly Stretch[],
  whoIsNamed: WhoIsNamed,
): Promise<ReadTopics> => {
  const named: Named[] = []
  const counted = new Map<string, Map<string, number>>()
  const sharedKeys = new Map<string, number>()
  const textsIn = createTextsIn(deps)
  const bytesOf = createBytesOf(deps)
  const hasSharedKey = createHasSharedKey(deps)
  const orgOf = createOrgOf(deps)
  const shared = createSharedSets()
  const pause = createGivingWay()
  await readTopics(deps.kafka, stretches, async ({ topic, partition, messages }) => {
    for (const message of messages) {
      await pause()
      const { key, value } = message
      if (value !== null && (await hasSharedKey(topic, key, value)))
        sharedKeys.set(topic, Math.max(sharedKeys.get(topic) ?? 0, message.timestamp))
      const orgId = await orgOf(topic, message)
      const ids = whoIsNamed.seeksIn(orgId) ? [...whoIsNamed.uuidsIn(message), ...(await textsIn(topic, value))] : []
      const erasures = whoIsNamed.of(orgId, ids)
      if (orgId === undefined && value !== null)
        for (const erasure of whoIsNamed.wholesIn(await bytesOf(topic, value))) erasures.add(erasure)
      if (erasures.size === 0) continue
      if (value !== null)
        for (const erasureId of erasures) {
          const counts = counted.get(erasureId) ?? new Map<string, number>()
          counted.set(erasureId, counts.set(topic, (counts.get(topic) ?? 0) + 1))
        }
      if (named.length === mostNamed) continue
      const kept = { key, value: keptOf(topic, value), offset: message.offset }
      named.push({ topic, partition, ...kept, erasures: shared(erasures) })
    }
  })
  const counts = [...counted].map(([erasureId, own]): [string, Counted[]] => [
    erasureId,
    [...own].map(([where, count]) => ({ where, count })),
  ])
  return { named, counts: new Map(counts), sharedKeys, stretches: [...stretches] }
}

/** Millions of messages name the same few. */
const createSharedSets = () => {
  const known = new Map<string, ReadonlySet<string>>()
  return (erasures: ReadonlySet<string>): ReadonlySet<string> => {
    const key = [...erasures].join()
    const there = known.get(key) ?? erasures
    known.set(key, there)
    return there
  }
}

/** Whose message it is. A verdict says it in its value alone; what keeps Kafka's cleaner going is nobody's, and whose it is what was set aside nobody knows. */
const createOrgOf = ({ registry }: { registry: Pick<Registry, 'decoder'> }) => {
  const decode = registry.decoder<VerdictEvent>(verdictSchema())
  return async (topic: string, { key, value }: Pick<Received, 'key' | 'value'>): Promise<string | undefined> => {
    if (topic !== names.verdictsTopic)
      return key === null || key === rollKey ? undefined : names.orgOfKey(key) || undefined
    return value === null
      ? undefined
      : unlessUndecodable(
          decode(value).then(({ org_id }) => org_id),
          undefined,
        )
  }
}

/** The bytes of a message that is of no organisation: of what was set aside, those that were set aside. */
const createBytesOf = ({ registry }: { registry: Pick<Registry, 'decoder'> }) => {
  const decode = registry.decoder<RejectedEvent>(rejectedSchema())
  return async (topic: string, value: Buffer): Promise<Buffer> =>
    topic === names.rejectedTopic ? unlessUndecodable(decode(value).then(bytesSetAside), value) : value
}

/** What an erasure needs of a message: an accepted event as it is, of all others only whether they have a value. */
const keptOf = (topic: string, value: Buffer | null): Buffer | null =>
  value && (names.isAcceptedTopic(topic) ? Buffer.from(value) : Buffer.alloc(0))

/** The end of each partition that was read, by `topic/partition`. */
export const endsOf = (stretches: readonly Stretch[]): Map<string, number> =>
  new Map(stretches.map((stretch) => [placeOf(stretch), stretch.until]))

/** Ids of users that are no UUIDs, where a message has any, and those in what was set aside. */
const createTextsIn = ({ registry, catalogue }: { registry: Pick<Registry, 'decoder'>; catalogue: Catalogue }) => {
  const textFields = new Map<RecordType, string[]>()
  for (const type of typesOfPersons(catalogue)) {
    const fields = personFieldsOf(type).flatMap(({ field }) => (type.fields[field]?.kind === 'text' ? [field] : []))
    if (fields.length > 0) textFields.set(type, fields)
  }
  const readers = new Map<string, (value: Buffer) => Promise<string[]>>()
  const textsOf = (records: readonly object[], fields: readonly string[]): string[] =>
    records.flatMap((record) =>
      fields.flatMap((field) => {
        const value = (record as Record<string, unknown>)[field]
        return typeof value === 'string' ? [value] : []
      }),
    )
  for (const [type, fields] of textFields) {
    const decodeAccepted = registry.decoder<AcceptedEvent>(acceptedSchema(type))
    readers.set(names.acceptedTopic(type.type), async (value) => textsOf([await decodeAccepted(value)], fields))
    const decodeBatch = registry.decoder<SubmittedBatch>(submittedSchema(type))
    readers.set(`${names.submittedTopic(type.type)}`, async (value) => {
      const { records, refusals } = await decodeBatch(value)
      return textsOf([...records, ...refusals.map(({ record }) => objectIn(record))], fields)
    })
  }
  const all = [...new Set([...textFields.values()].flat())]
  const decodeRejected = registry.decoder<RejectedEvent>(rejectedSchema())
  readers.set(names.rejectedTopic, async (value) => {
    const event = await decodeRejected(value)
    if (event.org_id === ofNobodyKnown) return uuidsIn(bytesSetAside(event).toString('latin1'))
    return textsOf([objectIn(event.record)], all)
  })
  return async (topic: string, value: Buffer | null): Promise<string[]> => {
    const read = readers.get(topic.replace(/\.g\d+$/, ''))
    // What cannot be decoded is set aside as it is; its UUIDs are found all the same.
    return value && read ? unlessUndecodable(read(value), []) : []
  }
}
