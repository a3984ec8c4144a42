import { expect, it } from 'vitest'
import { readWritten } from '#query/topics/older-events.js'

/** A partition in which two messages come each millisecond, read a hundred at a time. */
const partitionOf = (keys: ReadonlyMap<number, string>, length: number) => {
  const reads: number[] = []
  const message = (offset: number) => ({
    offset,
    timestamp: offset >> 1,
    key: keys.get(offset) ?? 'loud/x',
    value: Buffer.alloc(1),
  })
  const reader = {
    offsetAt: async (time: number) => (time * 2 < length ? time * 2 : undefined),
    read: async (from: number) => {
      reads.push(from)
      const next = Math.min(length, from + 100)
      return from >= length
        ? undefined
        : { messages: Array.from({ length: next - from }, (_, n) => message(from + n)), next }
    },
  }
  return { reader, reads }
}
const offsetsOf = (messages: { offset: number }[]) => messages.map(({ offset }) => offset).sort((a, b) => a - b)

it('finds messages far behind the end by the moment of their decision, the newest first', async () => {
  const keys = new Map([
    [1_000, 'a/1'],
    [1_030, 'a/2'],
    [50_100, 'a/3'],
  ])
  const { reader, reads } = partitionOf(keys, 200_000)
  const sought = [
    { key: 'a/3', at: 25_000 },
    { key: 'a/2', at: 500 },
    { key: 'a/1', at: 500 },
  ]
  expect(offsetsOf(await readWritten(reader, sought, () => true))).toEqual([1_000, 1_030, 50_100])
  // The second and the third lie together.
  expect(reads).toEqual([50_000, 50_100, 1_000])
})

it('gives up on a message that is not there, and stops when its time is over', async () => {
  const { reader, reads } = partitionOf(new Map([[100_000, 'a/1']]), 200_000)
  const sought = [
    { key: 'a/2', at: 60_000 },
    { key: 'a/1', at: 50_000 },
  ]
  expect(offsetsOf(await readWritten(reader, sought, () => true))).toEqual([100_000])
  expect(reads).toHaveLength(201)
  expect(await readWritten(reader, sought, () => false)).toEqual([])
  expect(reads).toHaveLength(201)
  expect(await readWritten(reader, [{ key: 'a/9', at: 500_000 }], () => true)).toEqual([])
})
