import { groupBy } from '#platform/group-by.js'
import { partitionOf, placeOf } from '#platform/kafka/partitions.js'
import type { Producer } from '#platform/kafka/producer.js'
import { acceptedTopic, rejectedTopic, togetherOf } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import type { RecordType } from '#schemas/record.js'
import { createAcceptedDecoder } from '../command/decoder.js'
import type { TurnedBack } from './checks/check-accepted.js'
import { createEventMaker, type Made } from './event-maker.js'
import { type ExpectedBatch, missingOf } from './expectations.js'
import { type KeyState, newerThanLast, seeVersion } from './key-states.js'
import { type CheckedType, readFrom, type Subject } from './subject.js'

/** How many events were published again, and which cannot be made again. */
export type Mended = { events: number; rejections: number; lost: string[] }

/** Publishes what is missing, and the newest event of each key that was turned back. */
export const mend = async (subject: Subject, turnedBack: readonly TurnedBack[]): Promise<Mended> => {
  const mended: Mended = { events: 0, rejections: 0, lost: [] }
  const producer = await subject.topics.createProducer()
  try {
    for (const one of subject.types.values()) {
      const keys = turnedBack.filter(({ type }) => type === one.type.type).map(({ key }) => key)
      await mendType(subject, one, keys, producer, mended)
    }
  } finally {
    await producer.close()
  }
  return mended
}

// Each round finds what came while the last one published. Where that never ends, somebody keeps writing old events.
const mostRounds = 10

const mendType = async (
  subject: Subject,
  one: CheckedType,
  turnedBack: readonly string[],
  producer: Pick<Producer, 'send'>,
  mended: Mended,
): Promise<void> => {
  const lacking = [...one.expectations.all()].filter((expected) => !expected.isInFlight && lacks(expected))
  if (lacking.length + turnedBack.length === 0) return
  const topic = acceptedTopic(one.type.type)
  const maker = await createEventMaker(subject, one.type)

  const { accepted, rejected } = await maker.missing(lacking)
  await send(subject, producer, rejectedTopic, rejected)
  mended.rejections += rejected.length

  const keys = new Set([...turnedBack, ...accepted.map(({ key }) => key)])
  const watch = await watchKeys(subject, one.type, keys)
  // A missing event comes after those on the topic. Where a newer one is among them, that one has to be published once more after it;
  // where it cannot be, because its verdict is pruned, the missing one stays away.
  await watch.look()
  const newer = newerThan(accepted, watch.newest())
  const makeable = new Set((await maker.ofVersions(newer)).map(({ key }) => key))
  const unmakeable = new Set(newer.map(({ key }) => key).filter((key) => !makeable.has(key)))
  mended.lost.push(...[...unmakeable].map((key) => `${topic} ${key}`))

  const sendable = accepted.filter(({ key }) => !unmakeable.has(key))
  for (let round = 0, next = sendable; ; round++) {
    await send(subject, producer, topic, next)
    mended.events += next.length
    // An event that was missing may be older than what is there, and something newer may have come since the last look.
    await watch.look()
    const late = watch.turnedBack().filter(({ key }) => !mended.lost.includes(`${topic} ${key}`))
    if (late.length === 0) return
    if (round === mostRounds) throw new Error(`${topic}: old events keep coming after newer ones`)
    next = await maker.ofVersions(late)
    const made = new Set(next.map(({ key }) => key))
    mended.lost.push(...late.filter(({ key }) => !made.has(key)).map(({ key }) => `${topic} ${key}`))
  }
}

/** The newest versions of keys of which only older events are to be published. */
const newerThan = (made: readonly Made[], newest: ReadonlyMap<string, number>): { key: string; version: number }[] => {
  const highest = new Map<string, number>()
  for (const { key, version } of made) highest.set(key, Math.max(highest.get(key) ?? 0, version))
  return [...highest].flatMap(([key, version]) => {
    const known = newest.get(key) ?? 0
    return known > version ? [{ key, version: known }] : []
  })
}

const lacks = (expected: ExpectedBatch): boolean =>
  missingOf(expected, 'accepted').length > 0 || missingOf(expected, 'refused').length > 0

/** Publishes events, older versions first, as they were published before. */
const send = async (
  { layout }: Subject,
  producer: Pick<Producer, 'send'>,
  topic: string,
  made: readonly Made[],
): Promise<void> => {
  const partitions = partitionsOf(layout, topic)
  const inOrder = made.toSorted((a, b) => a.version - b.version)
  for (const [partition, some] of groupBy(inOrder, ({ key }) => partitionOf(togetherOf(key), partitions))) {
    const messages = some.map(({ key, value }) => ({ key, value }))
    await producer.send(topic, partition, messages)
  }
}

/** Follows some keys of an accepted topic: each look reads what was written since the last one. */
const watchKeys = async (subject: Subject, type: RecordType, keys: ReadonlySet<string>) => {
  const { topics } = subject
  const topic = acceptedTopic(type.type)
  const decode = createAcceptedDecoder(subject.registry, type)
  const states = new Map<string, KeyState>()
  const rows = new Map<string, number>()
  const read = new Map<string, number>()
  for await (const found of subject.rows.ofKeys(type, [...keys]))
    for (const { org_id, id, version } of found) rows.set(`${org_id}/${id}`, version)

  return {
    look: async (): Promise<void> => {
      const stretches = (await topics.stretches([topic], readFrom(subject))).map((stretch) => ({
        ...stretch,
        from: read.get(placeOf(stretch)) ?? stretch.from,
      }))
      await topics.read(stretches, async ({ messages }) => {
        for (const { key, offset, value } of messages) {
          if (key === null || !keys.has(key)) continue
          if (value === null) states.delete(key)
          const head = value && (await decode(value))
          if (head) seeVersion(states, key, head.version, offset)
        }
      })
      for (const stretch of stretches) read.set(placeOf(stretch), stretch.until)
    },
    /** The newest version of each key, on the topic or in ClickHouse. */
    newest: (): Map<string, number> =>
      new Map([...keys].map((key) => [key, Math.max(states.get(key)?.highest ?? 0, rows.get(key) ?? 0)])),
    /** The keys whose last event is not their newest, and which version is. */
    turnedBack: (): { key: string; version: number }[] =>
      [...states].flatMap(([key, state]) => {
        const version = newerThanLast({ ...state, row: rows.get(key) })
        return version === undefined ? [] : [{ key, version }]
      }),
  }
}
