import { expect, it } from 'vitest'
import { type Fetch, hasValue, type Received } from '#platform/kafka/kafka.js'
import type { Sorted } from '#tables/readable.js'
import { createFeed } from '#tables/table-feed.js'
import { createFetchHandler } from '../../../services/sink/handle-fetch.js'

const topic = 'weir.accepted.shops'
const received = (offset: number, text: string): Received => ({
  offset,
  timestamp: 0,
  key: null,
  value: Buffer.from(text),
})
const fetchOf = (...texts: string[]): Fetch => ({
  topic,
  partition: 3,
  messages: texts.map((text, i) => received(10 + i, text)),
  next: 10 + texts.length,
  highWatermark: 20,
  holdsPartition: () => true,
})
/** An error of ClickHouse itself, as its client throws it. */
const refusal = Object.assign(new Error('cannot parse'), { code: '117', type: 'INCORRECT_DATA' })

const without = (word: string, messages: readonly Received[]): Sorted => ({
  readable: messages.filter(hasValue).filter(({ value }) => !value.includes(word)),
  unreadable: messages
    .filter(hasValue)
    .filter(({ value }) => value.includes(word))
    .map((message) => ({ message, reason: `holds ${word}` })),
})

/** A sink whose ClickHouse answers the inserts with these errors, one after another, and then takes everything. */
const openSink = (...errors: Error[]) => {
  const happened: string[] = []
  const handle = createFetchHandler({
    feeds: new Map([
      [
        topic,
        createFeed({
          writer: {
            write: async (messages) => {
              happened.push(`insert ${messages.join(' ')}`)
              const error = errors.shift()
              if (error) throw error
              happened.push('inserted')
            },
          },
          sort: async (messages) => without('alien', messages),
          lookClosely: async (messages) => {
            happened.push('look closely')
            return without('broken', messages)
          },
          onFailed: () => happened.push('failed'),
        }),
      ],
    ]),
    setAside: async ({ topic: from, partition, offset, reason }) => {
      happened.push(`set aside ${from}/${partition}@${offset}: ${reason}`)
    },
    figures: {
      fetched: () => happened.push('fetched'),
      written: () => happened.push('written'),
    },
  })
  return { handle, happened }
}

it('writes a fetch in one piece', async () => {
  const { handle, happened } = openSink()
  await handle(fetchOf('a', 'b', 'c'))
  expect(happened).toEqual(['fetched', 'insert a b c', 'inserted', 'written'])
})

it('writes the rest first, then sets aside what is not of the topic', async () => {
  const { handle, happened } = openSink()
  await handle(fetchOf('a', 'alien', 'b'))
  expect(happened).toEqual(['fetched', 'insert a b', 'inserted', `set aside ${topic}/3@11: holds alien`, 'written'])
})

it('inserts nothing where nothing is left to insert', async () => {
  const { handle, happened } = openSink()
  await handle(fetchOf('alien'))
  expect(happened).toEqual(['fetched', `set aside ${topic}/3@10: holds alien`, 'written'])
})

it('passes it on that ClickHouse was not reached, without a close look, and sets nothing aside', async () => {
  const { handle, happened } = openSink(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
  await expect(handle(fetchOf('a', 'alien', 'broken'))).rejects.toThrow('connect ECONNREFUSED')
  expect(happened).toEqual(['fetched', 'insert a broken', 'failed'])
})

it('looks closely after an error of ClickHouse itself, and sets aside what it finds', async () => {
  const { handle, happened } = openSink(refusal)
  await handle(fetchOf('a', 'broken', 'b'))
  expect(happened).toEqual([
    'fetched',
    'insert a broken b',
    'failed',
    'look closely',
    'insert a b',
    'inserted',
    `set aside ${topic}/3@11: holds broken`,
    'written',
  ])
})

it('passes an error of ClickHouse on where the messages are good: it is the table', async () => {
  const { handle, happened } = openSink(refusal)
  await expect(handle(fetchOf('a', 'b'))).rejects.toThrow('cannot parse')
  expect(happened).toEqual(['fetched', 'insert a b', 'failed', 'look closely'])
})

it('refuses a topic that has no table', async () => {
  const { handle } = openSink()
  await expect(handle({ ...fetchOf('a'), topic: 'weir.accepted.none' })).rejects.toThrow(
    'no table for weir.accepted.none',
  )
})
