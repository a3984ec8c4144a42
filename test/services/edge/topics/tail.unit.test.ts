import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTail } from '../../../../services/edge/topics/tail.js'

const anyMessage = fc.record({
  org: fc.constantFrom('acme', 'acme-2', 'other'),
  partition: fc.integer({ min: 0, max: 2 }),
  size: fc.integer({ min: 1, max: 40 }),
})

it('keeps the last messages within its bounds, and gives each organisation its own', () => {
  const bounds = { messages: 10, bytes: 200 }
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 60 }), (given) => {
      const tail = createTail(bounds)
      const heard: number[] = []
      const ignore = tail.listen('acme', ({ offset }) => heard.push(offset))
      const all = given.map(({ org, partition, size }, i) => ({
        partition,
        org,
        message: { offset: i, timestamp: i, key: `${org}/${i}`, value: Buffer.alloc(size) },
      }))
      for (const { partition, message } of all) tail.add(partition, [message])
      // What is kept is an end of what came: as long as the bounds allow.
      let from = all.length
      let bytes = 0
      for (; from > 0 && all.length - from < bounds.messages; from--) {
        bytes += all[from - 1]?.message.value.length ?? 0
        if (bytes > bounds.bytes && from < all.length) break
      }
      for (const org of ['acme', 'acme-2', 'other', 'nobody']) {
        const expected = all.slice(from).filter((one) => one.org === org)
        expect(tail.lastOf(org, 4).map(({ offset }) => offset)).toEqual(
          expected.slice(-4).map(({ message }) => message.offset),
        )
      }
      ignore()
      tail.add(0, [{ offset: 99, timestamp: 99, key: 'acme/x', value: Buffer.alloc(1) }])
      expect(heard).toEqual(all.filter(({ org }) => org === 'acme').map(({ message }) => message.offset))
    }),
  )
})
