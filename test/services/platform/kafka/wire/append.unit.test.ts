import { createRequire } from 'node:module'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { FinalRefusal } from '#platform/kafka/producer.js'
import { createAppend, type ProducingCluster } from '#platform/kafka/wire/append.js'
import { eventually } from '../../../../support/eventually.js'
import { Decoder, Encoder, kafkajsRead } from './kafkajs-codec.js'

const load = createRequire(import.meta.url)
const Broker = load('kafkajs/src/broker')
const { lookup } = load('kafkajs/src/protocol/requests')

const notLeader = 6
const tooLarge = 10

type Part = { topic: string; partition: number; values: string[] }
type Call = {
  request: { apiVersion: number; encode: () => Promise<{ buffer: Buffer }> }
  response: { decode: (answer: Buffer) => Promise<unknown>; parse: (decoded: unknown) => Promise<unknown> }
}

/** What a produce request holds, as kafkajs reads it. */
const readRequest = async (bytes: Buffer): Promise<Part[]> => {
  const decoder = new Decoder(bytes)
  expect(decoder.readString()).toBe(null)
  expect(decoder.readInt16()).toBe(-1)
  decoder.readInt32()
  const parts: Part[] = []
  for (let topics = decoder.readInt32(); topics > 0; topics--) {
    const topic = decoder.readString()
    for (let partitions = decoder.readInt32(); partitions > 0; partitions--) {
      const partition = decoder.readInt32()
      const messages = await kafkajsRead(decoder.readBytes())
      parts.push({
        topic,
        partition,
        values: messages.map(({ value }) => Buffer.from(value ?? '', 'base64').toString()),
      })
    }
  }
  expect(decoder.offset).toBe(bytes.length)
  return parts
}

/**
 * A cluster with one broker of kafkajs. Its connection notes every request, waits until the test lets it answer, and answers
 * each part with what `codeOf` says.
 */
const openCluster = ({ codeOf = (_: Part): number | undefined => 0, version = 7 } = {}) => {
  const requests: Part[][] = []
  const answering: (() => void)[] = []
  let refreshed = 0
  let isOpen = true
  const send = async ({ request, response }: Call) => {
    const parts = await readRequest((await request.encode()).buffer)
    requests.push(parts)
    if (!isOpen) await new Promise<void>((resolve) => answering.push(resolve))
    const topics = parts.flatMap((part) => {
      const code = codeOf(part)
      if (code === undefined) return []
      const own = new Encoder()
        .writeInt32(part.partition)
        .writeInt16(code)
        .writeInt64(code === 0 ? 5 : -1)
        .writeInt64(-1)
      if (version >= 5) own.writeInt64(0)
      return [new Encoder().writeString(part.topic).writeArray([own])]
    })
    return response.parse(await response.decode(new Encoder().writeArray(topics).writeInt32(0).buffer))
  }
  const logger = { namespace: () => logger }
  const broker = new Broker({ connectionPool: { send }, logger })
  broker.lookupRequest = lookup({ 0: { minVersion: 0, maxVersion: version } })
  const cluster = {
    targetTopics: new Set(['t', 'u']),
    refreshMetadataIfNecessary: async () => {},
    refreshMetadata: async () => void refreshed++,
    isConnected: () => true,
    findTopicPartitionMetadata: () => [0, 1, 2].map((partitionId) => ({ partitionId, leader: 1 })),
    findBroker: async () => broker,
  }
  const append = createAppend(cluster as unknown as ProducingCluster, pino({ level: 'silent' }))
  return {
    requests,
    refreshes: () => refreshed,
    hold: () => {
      isOpen = false
    },
    release: () => {
      isOpen = true
      for (const answer of answering.splice(0)) answer()
    },
    send: (topic: string, partition: number, value: string, mayGoOn = () => {}) =>
      append(topic, partition, [{ key: 'k', value: Buffer.from(value) }], mayGoOn),
  }
}
const settled = async () => {
  for (let n = 0; n < 20; n++) await turn()
}

it('sends together what begins at the same moment, a record batch for each partition', async () => {
  const { send, requests } = openCluster()
  await Promise.all([send('t', 0, 'a'), send('t', 1, 'b'), send('u', 0, 'c'), send('t', 0, 'd')])
  expect(requests).toEqual([
    [
      { topic: 't', partition: 0, values: ['a', 'd'] },
      { topic: 't', partition: 1, values: ['b'] },
      { topic: 'u', partition: 0, values: ['c'] },
    ],
  ])
})

it('gathers small sends while a request is under way; a large one goes at once', async () => {
  const { send, requests, hold, release } = openCluster()
  hold()
  const first = send('t', 0, 'first')
  await settled()
  const waiting = [send('t', 0, 'second'), send('t', 1, 'third')]
  await settled()
  const large = send('t', 2, 'x'.repeat(100_000))
  await eventually(() => expect(requests.map((parts) => parts.map(({ partition }) => partition))).toEqual([[0], [2]]))
  release()
  await Promise.all([first, large, ...waiting])
  expect(requests.slice(2)).toEqual([
    [
      { topic: 't', partition: 0, values: ['second'] },
      { topic: 't', partition: 1, values: ['third'] },
    ],
  ])
})

it('sends no more than half a megabyte together', async () => {
  const { send, requests } = openCluster()
  await Promise.all(Array.from({ length: 20 }, () => send('t', 0, 'x'.repeat(50_000))))
  expect(requests.map(([part]) => part?.values.length)).toEqual([10, 10])
})

it('gives each send the outcome of its own partition', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom('t', 'u'), fc.nat(2)), { minLength: 1, maxLength: 12 }),
      fc.array(fc.constantFrom(0, notLeader, tooLarge, undefined), { minLength: 6, maxLength: 6 }),
      fc.constantFrom(3, 5, 7),
      async (sends, codes, version) => {
        const codeAt = (topic: string, partition: number) => codes[(topic === 't' ? 0 : 3) + partition]
        const { send, requests } = openCluster({ codeOf: ({ topic, partition }) => codeAt(topic, partition), version })
        const outcomes = await Promise.allSettled(sends.map(([topic, partition], n) => send(topic, partition, `v${n}`)))
        for (const [n, [topic, partition]] of sends.entries()) {
          const outcome = outcomes[n]
          const code = codeAt(topic, partition)
          expect(outcome?.status).toBe(code === 0 ? 'fulfilled' : 'rejected')
          if (outcome?.status !== 'rejected') continue
          expect(outcome.reason instanceof FinalRefusal).toBe(code === tooLarge)
          if (code === undefined) expect(outcome.reason.message).toMatch(/^Kafka did not confirm \d+ messages for/)
        }
        // Sent once each; only what was refused together is sent once more, alone.
        const sent = requests.flat().flatMap(({ values }) => values)
        expect(new Set(sent).size).toBe(sends.length)
        const again = requests.slice(1)
        expect(again.every(([part]) => part && codeAt(part.topic, part.partition) === tooLarge)).toBe(true)
      },
    ),
  ))

it('sends alone what was refused together', async () => {
  const { send, requests } = openCluster({ codeOf: ({ values }) => (values.join('').length > 5 ? tooLarge : 0) })
  const outcomes = await Promise.allSettled([send('t', 0, 'abc'), send('t', 0, 'too large'), send('t', 0, 'def')])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(requests.map(([part]) => part?.values)).toEqual([['abc', 'too large', 'def'], ['abc'], ['too large'], ['def']])
})

it('asks for the leaders anew after a failure that may pass, before the next try', async () => {
  const moved = openCluster({ codeOf: () => notLeader })
  await expect(moved.send('t', 0, 'a')).rejects.toThrow('not the leader')
  expect(moved.refreshes()).toBe(1)
  const refused = openCluster({ codeOf: () => tooLarge })
  await expect(refused.send('t', 0, 'a')).rejects.toThrow(FinalRefusal)
  expect(refused.refreshes()).toBe(0)
  await expect(refused.send('t', 7, 'a')).rejects.toThrow('Kafka has no partition 7 of t')
})

it('asks each send once more whether it may go on, just before it leaves', async () => {
  const { send, requests, hold, release } = openCluster()
  hold()
  const first = send('t', 0, 'first')
  await settled()
  let isLost = false
  const late = send('t', 0, 'late', () => {
    if (isLost) throw new Error('the partition is lost')
  })
  const ended = expect(late).rejects.toThrow('the partition is lost')
  const other = send('t', 0, 'other')
  await settled()
  isLost = true
  release()
  await Promise.all([first, ended, other])
  expect(requests.map(([part]) => part?.values)).toEqual([['first'], ['other']])
})

it('speaks to no Kafka that is too old for record batches', async () => {
  await expect(openCluster({ version: 2 }).send('t', 0, 'a')).rejects.toThrow('this Kafka is older than 0.11')
})
