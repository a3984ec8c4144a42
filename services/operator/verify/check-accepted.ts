import type { Received } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { readTopics, type Stretch, stretchesOf } from '#platform/kafka/read-topics.js'
import { mostRecordsInBatch } from '#schemas/derive/decided-events.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { type AcceptedHead, createAcceptedDecoder, type Decode } from '../desk/decoder.js'
import { checkRows } from './check-rows.js'
import { forgiveCompacted } from './compacted.js'
import { missingOf } from './expectations.js'
import { type KeyState, orgOf, seeVersion } from './key-states.js'
import { countOf } from './read-submitted.js'
import { readFrom, type Subject, type TypeUnder } from './subject.js'

/** A key whose last event is not its newest. */
export type TurnedBack = { type: string; key: string; newest: number }

/** So many messages are held as keys at a time; a partition with more is a pack of its own. */
const mostInPack = 1_000_000

/**
 * The accepted topics beside what was expected of them, and ClickHouse beside the topics. They are read to their ends, whatever
 * the range says: what came later may be what replaces an event of the range.
 * `written`: up to where the sink has committed. `isPublished`: whether integrity is through with what has this version.
 */
export const checkAccepted = async (
  subject: Subject,
  written: ReadonlyMap<string, number>,
  isPublished: (type: string, orgId: string, offset: number) => boolean,
): Promise<TurnedBack[]> => {
  const { kafka, types } = subject
  const stretches = await stretchesOf(kafka, [...types.keys()].map(acceptedTopic), readFrom(subject))
  const progress = subject.progress('accepted', countOf(stretches))
  const byTopic = new Map([...types.values()].map((one) => [acceptedTopic(one.type.type), one]))
  const decoders = new Map(
    [...byTopic].map(([topic, { type }]) => [topic, createAcceptedDecoder(subject.registry, type)]),
  )
  const turnedBack: TurnedBack[] = []

  const read = async (pack: readonly Stretch[], keys: Map<string, Map<string, KeyState>>): Promise<void> => {
    await readTopics(kafka, pack, async ({ topic, partition, messages }) => {
      const one = byTopic.get(topic)
      const decode = decoders.get(topic)
      const states = keys.get(placeOf({ topic, partition }))
      if (!one || !decode || !states) throw new Error(`${topic}/${partition} was not asked for`)
      for (const message of messages) await see(subject, one, states, { topic, partition }, message, decode)
      progress.advance(messages.length)
    })
  }

  for (const pack of packsOf(stretches)) {
    const keys = new Map(pack.map((stretch) => [placeOf(stretch), new Map<string, KeyState>()]))
    await read(pack, keys)
    await checkRows(subject, pack, keys, written, async () => {
      // Rows are newer than all that was read: what was written meanwhile may tell why.
      const ends = new Map(pack.map((stretch) => [placeOf(stretch), stretch.until]))
      const now = await stretchesOf(kafka, [...new Set(pack.map(({ topic }) => topic))])
      await read(
        now.flatMap((s) => (ends.has(placeOf(s)) ? [{ ...s, from: ends.get(placeOf(s)) ?? s.until }] : [])),
        keys,
      )
    })
    for (const { topic, partition } of pack) {
      const { type } = byTopic.get(topic)?.type ?? { type: topic }
      for (const [key, { last, highest, row }] of keys.get(placeOf({ topic, partition })) ?? []) {
        const newest = Math.max(highest, row ?? 0)
        if (last === newest) continue
        // It may be told again at this moment, from an older event on.
        if (!isPublished(type, orgOf(key), Math.floor(newest / mostRecordsInBatch))) continue
        turnedBack.push({ type, key, newest })
        const found = `its last event has version ${last}, its newest ${newest}`
        subject.differences.add({ kind: 'event_turned_back', type, where: `${topic}/${partition} ${key}`, found })
      }
    }
  }
  progress.end()
  for (const one of types.values()) {
    await forgiveCompacted(subject, one)
    noteMissing(subject, one)
  }
  return turnedBack
}

const see = async (
  subject: Subject,
  { type, figures, expectations }: TypeUnder,
  states: Map<string, KeyState>,
  { topic, partition }: { topic: string; partition: number },
  { offset, key, value }: Received,
  decode: Decode<AcceptedHead>,
): Promise<void> => {
  const orgId = orgOf(key ?? '')
  if (subject.org !== undefined && orgId !== subject.org) return
  const head = await decode(value)
  if (!head || key === null) {
    figures.unreadable++
    return
  }
  seeVersion(states, key, head.version, offset)
  const seen = expectations.seeAccepted({ orgId, key, batchId: head.batch_id, version: head.version })
  if (seen.as === 'expected') figures.onTopic++
  if (seen.as !== 'unfounded') return
  const where = `${topic}/${partition}@${offset} ${key}`
  const found = `version ${head.version} of batch ${head.batch_id}, which was not accepted`
  subject.differences.add({ kind: 'event_unfounded', type: type.type, where, found })
}

const noteMissing = ({ differences }: Subject, { type, figures, expectations }: TypeUnder): void => {
  for (const expected of expectations.all()) {
    for (const index of missingOf(expected, 'accepted')) {
      if (expected.isInFlight) figures.inFlight++
      else {
        const where = `record ${index} of batch ${expected.batchId}`
        differences.add({ kind: 'event_missing', type: type.type, where, found: `not on ${acceptedTopic(type.type)}` })
      }
    }
  }
}

/** Small stretches together, so that few readers are opened; a large one alone, so that few keys are held. */
const packsOf = (stretches: readonly Stretch[]): Stretch[][] => {
  const packs: Stretch[][] = []
  let size = 0
  for (const stretch of stretches) {
    const more = stretch.until - stretch.from
    if (more <= 0) continue
    const last = packs.at(-1)
    if (last && size + more <= mostInPack) {
      last.push(stretch)
      size += more
    } else {
      packs.push([stretch])
      size = more
    }
  }
  return packs
}
