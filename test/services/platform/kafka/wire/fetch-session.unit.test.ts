import { createRequire } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import type { Broker as AnyBroker } from 'kafkajs'
import { expect, it } from 'vitest'
import { createFetch } from '#platform/kafka/wire/fetch-session.js'
import { brokerOf, type Call, Decoder, Encoder } from './kafkajs-codec.js'

const load = createRequire(import.meta.url)
const kafkajsRequest = load('kafkajs/src/protocol/requests/fetch/v11/request')

type Place = { topic: string; partition: number; fetchOffset: string; maxBytes: number }
type Asked = { id: number; epoch: number; places: Place[]; forgotten: { topic: string; partitions: number[] }[] }

const readAsked = (request: Buffer): Asked => {
  const read = new Decoder(request)
  for (let n = 0; n < 4; n++) read.readInt32()
  read.readInt8()
  const [id, epoch] = [read.readInt32(), read.readInt32()]
  const topics: Place[][] = read.readArray((each: typeof read) => {
    const topic = each.readString()
    return each.readArray((one: typeof read) => {
      const partition = one.readInt32()
      one.readInt32()
      const fetchOffset = String(one.readInt64())
      one.readInt64()
      return { topic, partition, fetchOffset, maxBytes: one.readInt32() }
    })
  })
  const forgotten = read.readArray((each: typeof read) => {
    const topic = each.readString()
    return { topic, partitions: each.readArray((one: typeof read) => one.readInt32()) }
  })
  return { id, epoch, places: topics.flat(), forgotten }
}

const unknownSession = 70
const wrongEpoch = 71
type Deed = 'answers' | 'forgot the session' | 'has no room for sessions' | 'hangs up' | 'answers and hangs up'

/** Stands in for a Kafka broker: keeps a session's list of partitions as the protocol says, and does to the session what `deed` names. */
const openBroker = (maxVersion = 17) => {
  const asked: Asked[] = []
  let next: Deed = 'answers'
  let session = { id: 0, epoch: 0, list: new Map<string, Place>() }
  let lastId = 100
  const answerTo = ({ id, epoch, places, forgotten }: Asked): { errorCode: number; sessionId: number } => {
    if (next === 'forgot the session') session = { id: 0, epoch: 0, list: new Map() }
    if (epoch === 0) {
      expect(forgotten).toEqual([])
      const full = next === 'has no room for sessions'
      session = { id: full ? 0 : ++lastId, epoch: 0, list: new Map() }
    } else if (id !== session.id) return { errorCode: unknownSession, sessionId: 0 }
    else if (epoch !== session.epoch + 1) return { errorCode: wrongEpoch, sessionId: 0 }
    else session.epoch = epoch
    for (const place of places) session.list.set(`${place.topic}/${place.partition}`, place)
    for (const { topic, partitions } of forgotten)
      for (const partition of partitions) expect(session.list.delete(`${topic}/${partition}`)).toBe(true)
    return { errorCode: 0, sessionId: session.id }
  }
  const send = async ({ request, response }: Call) => {
    const deed = next
    const { buffer } = await request.encode()
    await turn()
    if (deed === 'hangs up') throw new Error('hung up')
    const one = request.apiVersion === 11 ? readAsked(buffer) : undefined
    if (one) asked.push(one)
    const { errorCode, sessionId } = one && one.epoch >= 0 ? answerTo(one) : { errorCode: 0, sessionId: 0 }
    if (deed === 'answers and hangs up') throw new Error('hung up')
    next = 'answers'
    const answer = new Encoder().writeInt32(0)
    if (request.apiVersion >= 7) answer.writeInt16(errorCode).writeInt32(sessionId)
    return response.parse(await response.decode(answer.writeArray([]).buffer))
  }
  const fetch = createFetch(brokerOf(send, maxVersion) as AnyBroker, { bytesPerFetch: 1000, inSession: true })
  return {
    asked,
    list: () => session.list,
    fetch: (places: readonly Place[], deed: Deed = 'answers') => {
      next = deed
      const names = [...new Set(places.map(({ topic }) => topic))]
      const topics = names.map((name) => ({
        topic: name,
        partitions: places.filter(({ topic }) => topic === name).map(({ topic: _, ...rest }) => rest),
      }))
      return fetch({ maxWaitTime: 100, minBytes: 1, maxBytes: 1000, topics })
    },
  }
}
const at = (topic: string, partition: number, offset: number): Place => ({
  topic,
  partition,
  fetchOffset: String(offset),
  maxBytes: 10,
})
const sorted = (places: Iterable<Place>) =>
  [...places].map(({ topic, partition, fetchOffset }) => `${topic}/${partition} ${fetchOffset}`).sort()

it('names only what has changed since the fetch before', async () => {
  const { asked, fetch } = openBroker()
  const all = [at('shops', 0, 5), at('shops', 1, 7), at('offers', 0, 1)]
  await fetch(all)
  await fetch(all)
  await fetch([at('shops', 0, 6), at('offers', 0, 1)])
  expect(asked).toMatchObject([
    { id: 0, epoch: 0, places: all, forgotten: [] },
    { id: 101, epoch: 1, places: [], forgotten: [] },
    { id: 101, epoch: 2, places: [at('shops', 0, 6)], forgotten: [{ topic: 'shops', partitions: [1] }] },
  ])
})

it('has Kafka know what is wanted, whatever happens to the session', () => {
  const step = fc.record({
    wanted: fc.subarray(['a/0', 'a/1', 'b/0', 'b/1', 'b/2'], { minLength: 1 }),
    offset: fc.nat(2),
    deed: fc.constantFrom<Deed>(
      'answers',
      'answers',
      'answers',
      'forgot the session',
      'has no room for sessions',
      'hangs up',
      'answers and hangs up',
    ),
  })
  return fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { asked, list, fetch } = openBroker()
      for (const { wanted, offset, deed } of steps) {
        const places = wanted.map((each) => at(each.slice(0, 1), Number(each.slice(2)), offset))
        const failed = await fetch(places, deed).then(
          () => false,
          () => true,
        )
        expect(failed).toBe(deed === 'hangs up' || deed === 'answers and hangs up')
        if (!failed) expect(sorted(list().values())).toEqual(sorted(places))
      }
      expect(asked.every(({ epoch }) => epoch >= 0)).toBe(true)
    }),
  )
})

it('goes without a session beside another fetch, and with a Kafka that is too old for this version', async () => {
  const { asked, fetch } = openBroker()
  const places = [at('shops', 0, 5)]
  await Promise.all([fetch(places), fetch(places)])
  expect(asked.map(({ epoch }) => epoch)).toEqual([0, -1])
  const old = openBroker(10)
  await old.fetch(places)
  await old.fetch(places)
  expect(old.asked).toEqual([])
})

it('writes a request as kafkajs would', async () => {
  const sent: Buffer[] = []
  const broker = brokerOf(async ({ request, response }) => {
    sent.push((await request.encode()).buffer)
    const answer = new Encoder().writeInt32(0).writeInt16(0).writeInt32(9).writeArray([])
    return response.parse(await response.decode(answer.buffer))
  })
  const fetch = createFetch(broker as AnyBroker, { bytesPerFetch: 1000, inSession: true })
  const common = { maxWaitTime: 250, minBytes: 3, maxBytes: 2 ** 20, rackId: 'zażółć' }
  const partitions = [0, 7].map((partition) => ({ partition, fetchOffset: '9007199254740993', maxBytes: 2 ** 19 }))
  await fetch({ ...common, topics: [{ topic: 'shops', partitions }] })
  await fetch({ ...common, topics: [{ topic: 'shops', partitions: partitions.slice(0, 1) }] })
  const theirs = (more: object) =>
    kafkajsRequest({ replicaId: -1, ...common, ...more })
      .encode()
      .then(({ buffer }: { buffer: Buffer }) => buffer)
  expect(sent).toEqual([
    await theirs({ sessionEpoch: 0, topics: [{ topic: 'shops', partitions }] }),
    await theirs({
      sessionId: 9,
      sessionEpoch: 1,
      topics: [],
      forgottenTopics: [{ topic: 'shops', partitions: [7] }],
    }),
  ])
})
