import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeFetchAnswer } from '#platform/kafka/wire/fetch-answer.js'
import { control, Encoder, gzip, inOurWords, kafkajsBatch, shown, withAttributes } from './kafkajs-codec.js'

const load = createRequire(import.meta.url)
const KafkajsBatch = load('kafkajs/src/consumer/batch')
const topic = 'shops'

/** What happens to a partition, one after another: by which producer, in a transaction or not. */
type Step = {
  producerId: number
  what: 'plain' | 'in transaction' | 'commit' | 'abort'
  compression: number
  count: number
}
const step: fc.Arbitrary<Step> = fc.record({
  producerId: fc.constantFrom(7, 8),
  what: fc.constantFrom('plain', 'in transaction', 'commit', 'abort'),
  compression: fc.constantFrom(0, gzip),
  count: fc.integer({ min: 1, max: 4 }),
})

/** A partition's log, what a reader is to see of it, and the transactions that were given up. */
const logOf = async (steps: readonly Step[]) => {
  const batches: Buffer[] = []
  const seen: { offset: number; value: string; producerId: number }[] = []
  const aborted: { producerId: number; firstOffset: number }[] = []
  const open = new Map<number, { firstOffset: number; offsets: number[] }>()
  const hidden = new Set<number>()
  let next = 0
  const append = async (given: Step, values: string[], attributes: number): Promise<void> => {
    const transactional = given.what !== 'plain'
    const { producerId, compression } = { ...given, ...(!transactional && { producerId: -1 }) }
    const key = given.what === 'abort' ? Buffer.alloc(4) : given.what === 'commit' ? Buffer.from([0, 0, 0, 1]) : 'k'
    const messages = values.map((value) => ({ key, value: Buffer.from(value) }))
    const options = { firstOffset: next, producerId, transactional, compression: attributes ? 0 : compression }
    batches.push(withAttributes(await kafkajsBatch(messages, options), attributes))
    next += values.length
  }
  for (const given of steps) {
    const { producerId, what, count } = given
    const running = open.get(producerId)
    if (what === 'commit' || what === 'abort') {
      if (!running) continue
      if (what === 'abort') {
        aborted.push({ producerId, firstOffset: running.firstOffset })
        for (const offset of running.offsets) hidden.add(offset)
      }
      open.delete(producerId)
      await append(given, [''], control)
      continue
    }
    const offsets = Array.from({ length: count }, (_, n) => next + n)
    if (what === 'in transaction')
      open.set(producerId, {
        firstOffset: running?.firstOffset ?? next,
        offsets: [...(running?.offsets ?? []), ...offsets],
      })
    seen.push(...offsets.map((offset) => ({ offset, value: `v${offset}`, producerId })))
    await append(
      given,
      offsets.map((offset) => `v${offset}`),
      0,
    )
  }
  // Kafka hands over nothing behind the first message of a transaction that is still open.
  const stable = Math.min(next, ...[...open.values()].map(({ firstOffset }) => firstOffset))
  const whole = seen.filter(({ offset }) => offset < stable && !hidden.has(offset))
  const kept = batches.filter((batch) => Number(batch.readBigInt64BE(0)) < stable)
  const begun = aborted.filter(({ firstOffset }) => firstOffset < stable)
  return {
    log: Buffer.concat(kept),
    next: stable,
    aborted: begun.toSorted((a, b) => a.firstOffset - b.firstOffset),
    visible: whole.map(({ offset, value }) => ({ offset, value })),
  }
}

/** An answer of Kafka with one partition, as each version of the request has it. */
const answerOf = (
  version: number,
  part: { log: Buffer; next: number; aborted: { producerId: number; firstOffset: number }[] },
) => {
  const partition = new Encoder().writeInt32(3).writeInt16(0).writeInt64(part.next).writeInt64(part.next)
  if (version >= 5) partition.writeInt64(0)
  partition.writeArray(
    part.aborted.map(({ producerId, firstOffset }) => new Encoder().writeInt64(producerId).writeInt64(firstOffset)),
  )
  if (version >= 11) partition.writeInt32(2)
  partition.writeBytes(part.log)
  const answer = new Encoder().writeInt32(40)
  if (version >= 7) answer.writeInt16(0).writeInt32(0)
  answer.writeArray([new Encoder().writeString(topic).writeArray([partition])])
  return answer.buffer as Buffer
}

type Decoded = { responses: { topicName: string; partitions: { partition: number; messages: unknown[] }[] }[] }
const kafkajsDecode = (version: number, answer: Buffer): Promise<Decoded> =>
  load(`kafkajs/src/protocol/requests/fetch/v${version}/response`).decode(answer)
const ask = (version: number, from: number) => ({ version, offsetOf: () => from, bytes: 1e9 })

it.each([4, 5, 6, 7, 8, 9, 10, 11])('reads an answer of version %i as kafkajs does', async (version) => {
  const part = await logOf([{ producerId: 7, what: 'plain', compression: gzip, count: 3 }])
  const answer = answerOf(version, part)
  const { responses, ...theirs } = await kafkajsDecode(version, answer)
  const { responses: read, ...ours } = await decodeFetchAnswer(answer, ask(version, 0))
  expect({ ...theirs, ...ours }).toMatchObject({ ...theirs, throttleTime: 0 })
  const theirAnswer = responses[0]?.partitions[0]
  const rest = { messages: undefined, abortedTransactions: undefined, lastStartOffset: undefined }
  const [theirPart, ourPart] = [responses, read].map(([first]) => ({ ...first?.partitions[0], ...rest }))
  expect(ourPart).toMatchObject(theirPart as object)
  const messages = read[0]?.partitions[0]?.messages[0]?.received.map(shown)
  const theirMessages = theirAnswer?.messages as Parameters<typeof inOurWords>[0][]
  expect(messages).toEqual(theirMessages.map((each) => shown(inOurWords(each))))
})

it('hands to kafkajs what it would have handed to itself, and nothing of transactions that were given up', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(20), async (steps, wanted) => {
      const part = await logOf(steps)
      const from = Math.min(wanted, Math.max(0, part.next - 1))
      const answer = answerOf(11, part)
      const [ours] = (await decodeFetchAnswer(answer, ask(11, from))).responses
      const batch = new KafkajsBatch(topic, String(from), ours?.partitions[0])
      const received = batch.messages.flatMap(
        (each: { received: { offset: number; value: Buffer }[] }) => each.received,
      )
      const inWords = received.map(({ offset, value }: { offset: number; value: Buffer }) => ({
        offset,
        value: value.toString(),
      }))
      expect(inWords).toEqual(part.visible.filter(({ offset }) => offset >= from))
      if (part.log.length === 0) return
      // The next fetch begins behind everything that this one looked at.
      expect(batch.lastOffset()).toBe(String(part.next - 1))
      expect(batch.isEmptyDueToFiltering()).toBe(received.length === 0)
      // kafkajs itself loses track of transactions that began before the fetch, so that it is asked from the beginning only.
      const [theirs] = (await kafkajsDecode(11, answer)).responses
      const reference = new KafkajsBatch(topic, '0', theirs?.partitions[0])
      expect(reference.messages.map(({ offset }: { offset: string }) => Number(offset))).toEqual(
        part.visible.map(({ offset }) => offset),
      )
      expect(reference.lastOffset()).toBe(batch.lastOffset())
    }),
  ))

it('goes on behind the records that compaction removed at the end of a batch', async () => {
  const batch = await kafkajsBatch([{ key: 'k', value: Buffer.from('v') }], { firstOffset: 10 })
  // Of three records, the first is left.
  batch.writeInt32BE(2, 23)
  const part = { log: withAttributes(batch, 0), next: 13, aborted: [] }
  const messagesFrom = async (from: number) =>
    (await decodeFetchAnswer(answerOf(11, part), ask(11, from))).responses[0]?.partitions[0]?.messages
  expect(await messagesFrom(10)).toMatchObject([{ offset: '12', isControlRecord: false, received: [{ offset: 10 }] }])
  // Asked from there on, it hands over nothing and goes on all the same.
  expect(await messagesFrom(11)).toEqual([{ offset: '12', isControlRecord: true, received: [] }])
})
