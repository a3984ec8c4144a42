import { setTimeout as wait } from 'node:timers/promises'
import { type Generation, toDecide } from '#ledger/layout/layout.js'
import { publishedOffsets } from '#ledger/layout/published.js'
import { committedOffsets } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { acceptedTopic, sinkGroupOf, submittedTopic } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { versionOf } from '#schemas/version.js'
import type { LogPosition } from './cursor.js'

/** Where the tables are behind the topics. */
export class TablesBehind extends Error {}

/**
 * A place in the log of a type before which everything is in the tables, of all organisations. What integrity's group has committed is
 * published; so, where the topic of accepted records ends afterwards, all of it lies before that end; and what the sink's group has
 * committed is in the tables. Rejects with TablesBehind where the sink has not come so far in time.
 */
export type FindStored = (type: RecordType) => Promise<LogPosition>

const usual = { within: 10_000, lookEvery: 200, keptFor: 1_000 }

export const createFindStored = (deps: {
  catalogue: Catalogue
  kafka: Kafka
  findGenerations: () => Promise<readonly Generation[]>
  pace?: typeof usual
}): FindStored => {
  const { kafka, catalogue, pace = usual } = deps

  const find = async (type: RecordType): Promise<LogPosition> => {
    const generations = await deps.findGenerations()
    const generation = toDecide(generations)
    if (!generation) throw new TablesBehind('no layout is open')
    const published = await publishedOffsets(kafka, catalogue, generations)
    const topic = acceptedTopic(type.type)
    const ends = await kafka.withAdmin((admin) => admin.fetchTopicOffsets(topic))
    const giveUpAt = performance.now() + pace.within
    for (;;) {
      const committed = await committedOffsets(kafka, [{ groupId: sinkGroupOf(type.type), topics: [topic] }])
      const storedUntil = new Map(committed.map(({ partition, offset }) => [partition, offset]))
      // A partition that is empty from its beginning to its end was never committed.
      const isStored = ends.every(
        ({ partition, low, high }) => low === high || (storedUntil.get(partition) ?? 0) >= Number(high),
      )
      if (isStored) break
      if (performance.now() > giveUpAt) throw new TablesBehind(`the tables lack events of ${topic}`)
      await wait(pace.lookEvery)
    }
    const submitted = submittedTopic(type.type, generation.generation)
    const ofTopic = published.filter((each) => each.topic === submitted)
    const next = Object.fromEntries(ofTopic.map(({ partition, offset }) => [partition, versionOf(offset, 0)]))
    return { generation: generation.generation, next }
  }

  // Of many readers that begin at once, one asks for all.
  const found = new Map<string, { at: number; position: Promise<LogPosition> }>()
  return (type) => {
    const known = found.get(type.type)
    if (known && performance.now() < known.at + pace.keptFor) return known.position
    const position = find(type)
    found.set(type.type, { at: performance.now(), position })
    position.catch(() => found.delete(type.type))
    return position
  }
}
