import { randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { beforeAll, expect, it } from 'vitest'
import { type Removal, removeMessages, restoreConfigs } from '#platform/kafka/admin/removal.js'
import { ownConfigs, setConfigs, type TopicConfigs } from '#platform/kafka/admin/topic-configs.js'
import { createKafka, type Received } from '#platform/kafka/kafka.js'
import { countedFrom, placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import { createTopics } from '../../../../support/create-topics.js'
import { eventually } from '../../../../support/eventually.js'
import { sharedParts } from '../../../../support/shared-parts.js'

const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers: sharedParts.KAFKA_BROKERS, clientId: 'removal-test', log })
const id = randomUUID()
const deleting = `removal-${id}`
const compacted = `removal-compacted-${id}`
// Counted on from another one, so its offsets are not Kafka's own.
const later = `removal-${id}.g1`
const topics = [deleting, compacted, later]
const partitions = [0, 1, 2]
const secret = `secret-${randomUUID()}`

const settings: Record<string, Record<string, string>> = {
  [deleting]: { 'cleanup.policy': 'delete', 'retention.ms': '8640000000', 'segment.ms': '7200000' },
  [compacted]: { 'cleanup.policy': 'compact', 'min.compaction.lag.ms': '604800000' },
  [later]: {},
}
const names = ['cleanup.policy', 'retention.ms', 'segment.ms', 'min.compaction.lag.ms', 'min.cleanable.dirty.ratio']
const configs = () => ownConfigs(kafka, topics, [...names, 'delete.retention.ms', 'file.delete.delay.ms'])

/** Where a removal keeps what it changes, with all that it kept. */
const createKept = (first: TopicConfigs = {}) => {
  const all = [first]
  return { all, load: async () => all.at(-1) ?? {}, keep: async (each: TopicConfigs) => void all.push(each) }
}

const everyPlace: TopicPartition[] = topics.flatMap((topic) => partitions.map((partition) => ({ topic, partition })))

const readAll = (place: TopicPartition): Promise<Received[]> =>
  kafka.withPartitionReader({ ...place, ms: 30_000 }, async ({ read }) => {
    const all: Received[] = []
    for (let next = countedFrom(place.topic), part = await read(next); part; part = await read(next)) {
      all.push(...part.messages)
      next = part.next
    }
    return all
  })
const readEvery = async (): Promise<Map<string, Received[]>> =>
  new Map(await Promise.all(everyPlace.map(async (place) => [placeOf(place), await readAll(place)] as const)))

const shown = ({ offset, timestamp, key, value }: Received) => [offset, timestamp, key, value?.toString()]
const valued = (all: readonly Received[] = []) => all.filter(({ value }) => value !== null)

/** Kafka's files of these topics; undefined where it runs in a container. */
const filesOfTopics = async (): Promise<Buffer | undefined> => {
  const parts = (await readdir(tmpdir())).filter((name) => name.startsWith('weir-parts-'))
  const logs = parts.map((name) => join(tmpdir(), name, 'kafka/log'))
  const folders = await Promise.all(
    logs.map(async (folder) =>
      (await readdir(folder).catch(() => []))
        .filter((name) => topics.some((topic) => partitions.some((each) => name === `${topic}-${each}`)))
        .map((name) => join(folder, name)),
    ),
  )
  const files = await Promise.all(
    folders.flat().map(async (folder) => (await readdir(folder)).map((name) => readFile(join(folder, name)))),
  )
  if (process.env.WEIR_TEST_STACK !== 'docker') expect(files.length).toBe(everyPlace.length)
  return files.length === 0 ? undefined : Buffer.concat(await Promise.all(files.flat()))
}

const forgotten = (all: readonly Received[]) => all.filter(({ key }) => key?.startsWith('forgotten'))
const removalsOf = (now: Map<string, Received[]>, of: (message: Received) => boolean): Removal[] =>
  everyPlace.flatMap((place) => {
    const found = forgotten(now.get(placeOf(place)) ?? []).filter(of)
    const keys = new Set(found.map(({ key }) => key ?? ''))
    return keys.size === 0 ? [] : [{ ...place, keys, offsets: found.map(({ offset }) => offset) }]
  })
const isFirst = ({ key }: Received): boolean => key?.startsWith('forgotten-first') ?? false

beforeAll(async () => {
  await createTopics(
    kafka,
    ...topics.map((topic) => ({
      topic,
      numPartitions: partitions.length,
      configEntries: Object.entries(settings[topic] ?? {}).map(([name, value]) => ({ name, value })),
    })),
  )
  const producer = await kafka.createProducer()
  for (const { topic, partition } of everyPlace) {
    const message = (key: string, text: string, size: number) => ({
      key: `${key}-${randomUUID()}`,
      value: Buffer.from(text.padEnd(size, '.')),
    })
    const several = (count: number, key: string, text: string, size: number) =>
      Array.from({ length: count }, (_, n) => message(`${key}-${n}`, text, size))
    await producer.send(topic, partition, several(100, 'stays', 'one that stays', 300))
    // Packed together with others, and by themselves in plain bytes; nobody is forgotten in partition 2.
    if (partition < 2) {
      await producer.send(topic, partition, [
        ...several(20, 'stays', 'beside', 100),
        ...several(3, 'forgotten-first', secret, 400),
        ...several(20, 'stays', 'beside', 100),
      ])
      await producer.send(topic, partition, several(1, 'forgotten-first', secret, 200))
      await producer.send(topic, partition, several(1, 'forgotten-later', secret, 200))
    }
    await producer.send(topic, partition, several(100, 'stays', 'another', 20))
  }
  await producer.close()
})

it('removes single messages while others are written and read, and nothing else', async () => {
  const before = await readEvery()
  const configsBefore = await configs()
  expect((await filesOfTopics())?.includes(secret) ?? true).toBe(true)

  const producer = await kafka.createProducer()
  const seen = new Map<string, number>()
  const consumer = await kafka.consume({
    groupId: `removal-${id}`,
    topics,
    fromBeginning: true,
    onFetch: async ({ messages }) => {
      for (const { key, value } of messages) if (key !== null && value) seen.set(key, (seen.get(key) ?? 0) + 1)
    },
    crash: (error) => expect.unreachable(String(error)),
  })
  const written: string[] = []
  const writing = new AbortController()
  const write = async () => {
    while (!writing.signal.aborted) {
      for (const { topic, partition } of everyPlace) {
        const key = `written-${randomUUID()}`
        await producer.send(topic, partition, [{ key, value: Buffer.from('written meanwhile') }])
        written.push(key)
      }
    }
  }
  const writes = write()

  const kept = createKept()
  const removals = removalsOf(before, isFirst)
  let ends: ReadonlyMap<string, number> = new Map()
  await removeMessages({ kafka, producer, kept, log }, removals, {
    within: 120_000,
    beforeCompaction: async (all) => {
      ends = all
      // Kafka may not have begun: what was there is still there, and each key has nothing any more.
      expect(kept.all).toEqual([{}])
      const now = await readEvery()
      for (const { keys, offsets, ...place } of removals) {
        const read = (now.get(placeOf(place)) ?? []).filter(({ offset }) => offset < (all.get(placeOf(place)) ?? 0))
        const ofKeys = read.filter(({ key }) => key !== null && keys.has(key))
        expect(ofKeys.map(({ offset }) => offset).slice(0, offsets.length)).toEqual(offsets)
        expect(ofKeys.slice(offsets.length).map(({ key, value }) => [key, value])).toEqual(
          [...keys].map((key) => [key, null]),
        )
      }
    },
  })
  writing.abort()
  await writes

  expect([...ends.keys()].sort()).toEqual(removals.map(placeOf).sort())
  const after = await readEvery()
  for (const place of everyPlace.map(placeOf)) {
    const stayed = (before.get(place) ?? []).filter((message) => !isFirst(message))
    const read = after.get(place) ?? []
    expect(read.filter(({ key }) => !key?.startsWith('written') && key !== 'weir/roll').map(shown)).toEqual(
      stayed.map(shown),
    )
  }
  const left = new Set([...after.values()].flat().map(({ key }) => key))
  expect(written.filter((key) => !left.has(key))).toEqual([])
  // The last one was written to each partition in the end; no one can go while it is the last of its key.
  const rolls = [...after.values()].map((all) => all.filter(({ key }) => key === 'weir/roll').length)
  expect(Math.max(...rolls)).toBeLessThanOrEqual(2)
  expect(await configs()).toEqual(configsBefore)
  expect(kept.all.length).toBe(3)
  expect(kept.all.at(-1)).toEqual({})

  const stayed = [...before.values()].flat().filter((message) => !isFirst(message))
  const expected = [...stayed.map(({ key }) => key ?? ''), ...written]
  await eventually(() => expect(expected.filter((key) => seen.get(key) !== 1)).toEqual([]))
  consumer.check()
  await consumer.close()
  await producer.close()
})

it('is begun anew after it was given up, and after it was killed', async () => {
  const before = await readEvery()
  const configsBefore = await configs()
  const removals = removalsOf(before, () => true)
  expect(removals.length).toBe(6)
  const producer = await kafka.createProducer()
  const passed = { beforeCompaction: async () => {}, within: 120_000 }

  // Given up as soon as the topics are compacted, and before that, by those who have to read.
  const stop = new AbortController()
  const stopped = createKept()
  const keep = async (each: TopicConfigs) => {
    await stopped.keep(each)
    if (Object.keys(each).length > 0) stop.abort(new Error('the service stops'))
  }
  const given = removeMessages({ kafka, producer, kept: { ...stopped, keep }, log }, removals, {
    ...passed,
    signal: stop.signal,
  })
  await expect(given).rejects.toThrow('the service stops')
  expect(stopped.all.length).toBe(3)
  const late = removeMessages({ kafka, producer, kept: createKept(), log }, removals, {
    within: 200,
    beforeCompaction: () => new Promise(() => {}),
  })
  await expect(late).rejects.toThrow()
  expect(await configs()).toEqual(configsBefore)

  // Killed while the topics were compacted: they still are, and what they had before is kept.
  const killed = createKept(await ownConfigs(kafka, topics, ['cleanup.policy', 'segment.ms']))
  const changed = { 'cleanup.policy': 'compact,delete', 'segment.ms': '1000' }
  await setConfigs(kafka, Object.fromEntries(topics.map((topic) => [topic, changed])))
  expect(await configs()).not.toEqual(configsBefore)
  await removeMessages({ kafka, producer, kept: killed, log }, removals, {
    ...passed,
    beforeCompaction: async () => expect(await configs()).toEqual(configsBefore),
  })
  await producer.close()

  const after = await readEvery()
  expect(forgotten([...after.values()].flat())).toEqual([])
  for (const [place, all] of before)
    expect(valued(after.get(place)).map(shown)).toEqual(
      valued(all)
        .filter(({ key }) => !key?.startsWith('forgotten'))
        .map(shown),
    )
  expect(await configs()).toEqual(configsBefore)
  expect((await filesOfTopics())?.includes(secret) ?? false).toBe(false)
  expect((await filesOfTopics())?.includes('forgotten') ?? false).toBe(false)
})

it('gives settings back, and passes over topics that are gone', async () => {
  const configsBefore = await configs()
  const kept = createKept({ [later]: { 'segment.ms': '123456' }, 'no-such-topic': { 'segment.ms': null } })
  await restoreConfigs({ kafka, kept })
  expect((await configs())[later]?.['segment.ms']).toBe('123456')
  expect(kept.all.at(-1)).toEqual({})
  await restoreConfigs({ kafka, kept: createKept({ [later]: { 'segment.ms': null } }) })
  expect(await configs()).toEqual(configsBefore)
  await removeMessages({ kafka, producer: { send: () => expect.unreachable() }, kept: createKept(), log }, [], {
    within: 1_000,
    beforeCompaction: () => expect.unreachable(),
  })
})
