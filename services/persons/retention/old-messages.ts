import type { Counted } from '#ledger/erasures/erasures.js'
import type { Kafka, Received } from '#platform/kafka/kafka.js'
import { placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import { readTopics, type Stretch, stretchesOf } from '#platform/kafka/read-topics.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { rejectedSchema, waitingSchema } from '#schemas/derive/avro.js'
import * as names from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { createGivingWay } from '../remove/giving-way.js'
import { createHasSharedKey, unlessUndecodable } from '../remove/shared-keys.js'
import { isTooOld, type KeptFrom, latestOf } from './cutoffs.js'

/** A message that is too old, or of an accepted record: an event that is. */
export type OldMessage = TopicPartition & Pick<Received, 'offset'> & { key: string; type: RecordType }

// A run takes no more into memory; the next one goes on.
const mostAtOnce = 2_000_000

export type OldMessages = {
  messages: OldMessage[]
  isAll: boolean
  /** Topics that cannot be compacted yet, since a Weir from before wrote several messages of one key. */
  notYet: Set<string>
}

/** Reads the beginnings of topics, up to where what is there is young enough. */
export const readOldMessages = async (
  deps: { kafka: Kafka; registry: Pick<Registry, 'decoder'>; catalogue: Catalogue },
  all: readonly KeptFrom[],
): Promise<OldMessages> => {
  const { kafka } = deps
  const byType = new Map(all.map((cutoffs) => [cutoffs.type.type, cutoffs]))
  const typeOf = createTypeOf(deps)
  const hasSharedKey = createHasSharedKey(deps)
  const found: OldMessages = { messages: [], isAll: true, notYet: new Set() }
  const pause = createGivingWay()
  await readTopics(kafka, await oldStretches(kafka, all), async ({ topic, partition, messages }) => {
    for (const { key, value, offset, timestamp } of messages) {
      await pause()
      if (key === null || value === null) continue
      if (await hasSharedKey(topic, key, value)) found.notYet.add(topic)
      const cutoffs = byType.get((await typeOf(topic, value)) ?? '')
      if (!cutoffs || !isTooOld(cutoffs, names.orgOfKey(key), timestamp)) continue
      if (found.messages.length < mostAtOnce) found.messages.push({ topic, partition, offset, key, type: cutoffs.type })
      else found.isAll = false
    }
  })
  found.messages = found.messages.filter(({ topic }) => !found.notYet.has(topic))
  return found
}

export const countMessages = (messages: readonly Pick<OldMessage, 'topic'>[]): Counted[] => {
  const counts = new Map<string, number>()
  for (const { topic } of messages) counts.set(topic, (counts.get(topic) ?? 0) + 1)
  return [...counts].map(([where, count]) => ({ where, count }))
}

/** What was written before the latest moment that is of interest, of the topics that have something of these types. */
const oldStretches = async (kafka: Kafka, all: readonly KeptFrom[]): Promise<Stretch[]> => {
  const there = await kafka.withAdmin((admin) => admin.listTopics())
  const latest = Math.max(0, ...all.map(latestOf))
  const isOf = (topic: string, type: string): boolean =>
    topic === names.acceptedTopic(type) ||
    (topic.startsWith(names.submittedTopic('')) && names.typeOfSubmitted(topic) === type)
  const before = new Map([
    ...all.flatMap((cutoffs): [string, number][] =>
      there.filter((topic) => isOf(topic, cutoffs.type.type)).map((topic) => [topic, latestOf(cutoffs)]),
    ),
    [names.rejectedTopic, latest] as const,
    [names.waitingTopic, latest] as const,
  ])
  const stretches: Stretch[] = []
  for (const [topic, moment] of before) {
    const young = new Map((await stretchesOf(kafka, [topic], moment)).map((each) => [placeOf(each), each.from]))
    for (const each of await stretchesOf(kafka, [topic]))
      stretches.push({ ...each, until: Math.min(each.until, young.get(placeOf(each)) ?? each.from) })
  }
  return stretches.filter(({ from, until }) => from < until)
}

/** The type of the record that a message is about. */
const createTypeOf = ({ registry }: { registry: Pick<Registry, 'decoder'> }) => {
  const decoders = new Map([
    [names.rejectedTopic, registry.decoder<{ type: string }>(rejectedSchema())],
    [names.waitingTopic, registry.decoder<{ type: string }>(waitingSchema())],
  ])
  const types = new Map<string, string>()
  return async (topic: string, value: Buffer): Promise<string | undefined> => {
    const decode = decoders.get(topic)
    // What cannot be decoded was set aside as it is, and goes when the topic is too old.
    if (decode)
      return unlessUndecodable(
        decode(value).then(({ type }) => type),
        undefined,
      )
    const type = types.get(topic) ?? typeOfTopic(topic)
    types.set(topic, type)
    return type
  }
}

const typeOfTopic = (topic: string): string =>
  topic.startsWith(names.submittedTopic('')) ? names.typeOfSubmitted(topic) : names.typeOfAccepted(topic)
