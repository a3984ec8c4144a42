import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { PartitionReader, Received } from '#platform/kafka/kafka.js'
import { Undecodable } from '#platform/registry.js'
import { createFindOffsets, searchOffsets } from '#query/journey/find-offsets.js'
import { shop } from '#schemas/records/shop.js'
import { silent } from '../../edge/edge.js'

const key = 'acme/3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'
const versionIn = async (value: Buffer | null) => Number(String(value))
const event = (offset: number, timestamp: number, version: number, of = key): Received => ({
  offset,
  timestamp,
  key: of,
  value: Buffer.from(String(version)),
})

/** A partition as Kafka gives it out: `perFetch` messages at a time. Offsets that have no message are ends of transactions. */
const readerOf = (log: readonly Received[], end: number, perFetch = 3) => {
  const reads: number[] = []
  const reader: PartitionReader = {
    offsetAt: async (time) => log.find(({ timestamp }) => timestamp >= time)?.offset,
    read: async (from) => {
      reads.push(from)
      if (from >= end) return undefined
      const next = Math.min(end, from + perFetch)
      return { messages: log.filter(({ offset }) => offset >= from && offset < next), next }
    },
  }
  return { reader, reads }
}

const search = async (
  reader: PartitionReader,
  sought: { version: number; acceptedAt: number }[],
  { mayGoOn = () => true, most }: { mayGoOn?: () => boolean; most?: Parameters<typeof searchOffsets>[3] } = {},
) => {
  const noted = new Map<number, number | null>()
  const note = (version: number, offset: number | null) => noted.set(version, offset)
  await searchOffsets(reader, { key, versionIn, sought, mayGoOn }, note, most)
  return noted
}

it('finds each version where it was first published, whatever lies between and around', async () => {
  const anyMessage = fc.record({
    isOurs: fc.boolean(),
    version: fc.nat(6),
    later: fc.nat(20),
    isThere: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMessage, { maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      async (given, perFetch) => {
        let time = 0
        const log: Received[] = []
        given.forEach(({ isOurs, version, later, isThere }, offset) => {
          time += later
          if (isThere) log.push(event(offset, time, version, isOurs ? key : 'acme/other'))
        })
        const { reader } = readerOf(log, given.length, perFetch)
        const sought = [0, 1, 2, 3, 4, 5, 6].map((version) => {
          const first = log.find((each) => each.key === key && String(each.value) === String(version))
          return { version, first, acceptedAt: Math.max(0, (first?.timestamp ?? 100) - 7) }
        })
        const noted = await search(reader, sought)
        expect(noted).toEqual(new Map(sought.map(({ version, first }) => [version, first?.offset ?? null])))
      },
    ),
  )
})

it('ends at the end of the topic, where the topic is empty, and where all that is left is much younger', async () => {
  const empty = readerOf([], 0)
  expect(await search(empty.reader, [{ version: 1, acceptedAt: 5 }])).toEqual(new Map([[1, null]]))
  expect(empty.reads).toEqual([])
  const short = readerOf([event(0, 10, 7)], 2)
  expect(await search(short.reader, [{ version: 1, acceptedAt: 5 }])).toEqual(new Map([[1, null]]))
  expect(short.reads).toEqual([0, 2])
  const days = 86_400_000
  const young = readerOf(
    Array.from({ length: 90 }, (_, n) => event(n, 5 * days, n)),
    90,
  )
  expect(await search(young.reader, [{ version: 80, acceptedAt: 0 }])).toEqual(new Map([[80, null]]))
  expect(young.reads).toEqual([0])
})

it('reads no more than it may, the newest version first, and says nothing of those that it did not come to', async () => {
  const log = Array.from({ length: 100 }, (_, n) => event(n, n, n, n % 10 === 0 ? key : 'acme/other'))
  const far = { version: 80, acceptedAt: 0 }
  const near = { version: 90, acceptedAt: 89 }
  const most = { messages: 30, ofOneVersion: 20, bytes: 1000 }
  const one = readerOf(log, 100, 5)
  expect(await search(one.reader, [far, near], { most })).toEqual(
    new Map([
      [90, 90],
      [80, null],
    ]),
  )
  expect(one.reads).toEqual([89, 0, 5, 10, 15])
  for (const less of [{ messages: 12 }, { bytes: 12 }]) {
    const cut = readerOf(log, 100, 5)
    expect(await search(cut.reader, [far, near], { most: { ...most, ...less } })).toEqual(new Map([[90, 90]]))
  }
  expect(await search(readerOf(log, 100).reader, [near], { mayGoOn: () => false })).toEqual(new Map())
})

const places = { orgId: 'acme', type: shop, topic: 'weir.accepted.shops', partition: 2, key }
const create = (reader: PartitionReader) => {
  let time = 0
  let fails = false
  const asked: unknown[] = []
  const find = createFindOffsets({
    kafka: {
      withPartitionReader: async (place, work) => {
        asked.push(place)
        if (fails) throw new Error('away')
        return work(reader)
      },
    },
    decoders: {
      decoder: <T>() => {
        return async (message: Buffer | null): Promise<T> => {
          if (String(message) === 'NaN') throw new Undecodable('no')
          return { version: Number(String(message)) } as T
        }
      },
    },
    now: () => time,
    log: silent,
  })
  return {
    find,
    asked,
    pass: (ms: number) => {
      time += ms
    },
    fail: (whether: boolean) => {
      fails = whether
    },
  }
}

it('remembers what it found, asks for the newest twenty only, and passes over what cannot be decoded', async () => {
  const log = [event(0, 0, Number.NaN), ...Array.from({ length: 30 }, (_, n) => event(n + 1, n, n))]
  const { find, asked } = create(readerOf(log, 31).reader)
  const sought = Array.from({ length: 30 }, (_, version) => ({ version, acceptedAt: version }))
  const expected = new Map(sought.slice(10).map(({ version }) => [version, version + 1]))
  expect(await find(places, sought)).toEqual(expected)
  expect(await Promise.all([find(places, sought), find(places, sought)])).toEqual([expected, expected])
  expect(asked).toMatchObject([{ topic: 'weir.accepted.shops', partition: 2 }])
  // Another record of the same versions is none of these.
  expect(await find({ ...places, key: 'acme/other' }, sought.slice(0, 1))).toEqual(new Map())
  expect(asked).toHaveLength(2)
})

it('answers without offsets while Kafka is away, and does not ask it again at once', async () => {
  const { find, asked, pass, fail } = create(readerOf([event(0, 0, 1)], 1).reader)
  const sought = [{ version: 1, acceptedAt: 0 }]
  fail(true)
  expect(await find(places, sought)).toEqual(new Map())
  fail(false)
  expect(await find(places, sought)).toEqual(new Map())
  expect(asked).toHaveLength(1)
  pass(10_000)
  expect(await find(places, sought)).toEqual(new Map([[1, 0]]))
})

it('searches for one record of an organisation at a time', async () => {
  let underWay = 0
  let most = 0
  const reader = readerOf([event(0, 0, 1)], 1).reader
  const { find } = create({
    ...reader,
    offsetAt: async () => {
      most = Math.max(most, ++underWay)
      await new Promise(setImmediate)
      underWay--
      return 0
    },
  })
  const keys = ['acme/a', 'acme/b', 'acme/c']
  await Promise.all(keys.map((each) => find({ ...places, key: each }, [{ version: 1, acceptedAt: 0 }])))
  expect(most).toBe(1)
})
