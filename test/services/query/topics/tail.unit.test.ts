import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTail } from '#query/topics/tail.js'
import { threadTime } from '../../../support/thread-time.js'

const anyMessage = fc.record({
  org: fc.constantFrom('acme', 'acme-2', 'other', 'other', 'other', 'other'),
  partition: fc.integer({ min: 0, max: 2 }),
  size: fc.integer({ min: 1, max: 40 }),
})

const orgs = ['acme', 'acme-2', 'other']

it('keeps the last messages of each organisation within its bounds, whatever others publish', () => {
  const bounds = { ofOne: 10, bytes: 300 }
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 80 }), (given) => {
      const tail = createTail(bounds)
      const heard: number[] = []
      const ignore = tail.listen('acme', ({ offset }) => heard.push(offset))
      const all = given.map(({ org, partition, size }, i) => ({
        partition,
        org,
        message: { offset: i, timestamp: i, key: `${org}/${i}`, value: Buffer.alloc(size) },
      }))
      for (const { partition, message } of all) tail.add(partition, [message])
      let bytes = 0
      for (const org of orgs) {
        const own = all.filter((one) => one.org === org).map(({ message }) => message)
        const kept = tail.lastOf(org, 100)
        bytes += sizeOf(kept)
        expect(kept.map(({ offset }) => offset)).toEqual(
          kept.length === 0 ? [] : own.slice(-kept.length).map(({ offset }) => offset),
        )
        expect(kept.length).toBeLessThanOrEqual(bounds.ofOne)
        // Whoever has no more than its share loses nothing for others.
        if (sizeOf(own) <= bounds.bytes / orgs.length) expect(kept.length).toBe(Math.min(own.length, bounds.ofOne))
      }
      expect(bytes).toBeLessThanOrEqual(bounds.bytes)
      expect(tail.lastOf('nobody', 4)).toEqual([])
      ignore()
      tail.add(0, [{ offset: 99, timestamp: 99, key: 'acme/x', value: Buffer.alloc(1) }])
      expect(heard).toEqual(all.filter(({ org }) => org === 'acme').map(({ message }) => message.offset))
    }),
  )
})

const sizeOf = (messages: readonly { value: Buffer }[]): number =>
  messages.reduce((sum, { value }) => sum + value.length, 0)

it('does not look through all organisations with each message, where there are many with one each', () => {
  const many = 20_000
  const tail = createTail({ ofOne: 100, bytes: many })
  const add = (n: number) => tail.add(0, [{ offset: n, timestamp: n, key: `org-${n}/id`, value: Buffer.alloc(1) }])
  for (let n = 0; n < many; n++) add(n)
  const before = threadTime()
  for (let n = many; n < many + 2000; n++) add(n)
  // Sorted for each message, they took 9 s.
  expect(threadTime() - before).toBeLessThan(1_000)
  expect(tail.lastOf(`org-${many + 1999}`, 1)).toHaveLength(1)
})

it('holds of each message its own bytes alone, and not those of all that it was read with', () => {
  const tail = createTail()
  const read = Buffer.alloc(1024 * 1024, 'a')
  tail.add(0, [{ offset: 0, timestamp: 0, key: 'acme/id', value: read.subarray(100, 110) }])
  const [kept] = tail.lastOf('acme', 1)
  expect(kept?.value?.toString()).toBe('aaaaaaaaaa')
  expect(kept?.value?.buffer.byteLength).toBe(10)
})

it('shows nothing of a record that is gone, wherever the message lies that says so, and what comes after it', () => {
  const tail = createTail()
  const message = (offset: number, key: string, value: string | null) => ({
    offset,
    timestamp: offset,
    key,
    value: value === null ? null : Buffer.from(value),
  })
  tail.add(0, [message(0, 'acme/a', 'before'), message(1, 'acme/b', 'stays'), message(2, 'acme/a', null)])
  const shown = () => tail.lastOf('acme', 9).map(({ value }) => String(value))
  expect(shown()).toEqual(['stays'])
  tail.add(0, [message(3, 'acme/a', 'again')])
  expect(shown()).toEqual(['stays', 'again'])
  expect(tail.lastOf('acme', 1)).toHaveLength(1)
})
