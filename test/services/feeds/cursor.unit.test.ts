import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type FeedPosition, readCursor, writeCursor } from '#feeds/cursor.js'

const count = fc.nat({ max: 2 ** 31 - 1 })
const log = fc.record({ generation: fc.nat({ max: 15 }), next: fc.dictionary(fc.nat({ max: 99 }).map(String), count) })
const tables = fc.record({ since: count, after: fc.array(fc.oneof(fc.uuid(), count), { maxLength: 2 }), log })
const positions = fc.dictionary(fc.constantFrom('shops', 'offers', 'interactions'), fc.oneof(log, tables))

it('is read as it was written, and by its own organisation alone', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), count, positions, (org, at, given) => {
      const cursor = { at, positions: new Map<string, FeedPosition>(Object.entries(given)) }
      const text = writeCursor(org, cursor)
      expect(text).toMatch(/^[\w-]+$/)
      expect(readCursor(org, text)).toEqual(cursor)
      expect(readCursor(`${org}x`, text)).toBe('foreign')
    }),
  )
})

it('is no cursor where it was not written here', () => {
  const made = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const [, own] = JSON.parse(
    Buffer.from(writeCursor('acme', { at: 0, positions: new Map() }), 'base64url').toString(),
  ) as [number, string]
  const wrong = [
    '',
    'beginnin',
    made({}),
    made([2, own, 0, {}]),
    made([1, own, -1, {}]),
    made([1, own, 0, { shops: [0] }]),
    made([1, own, 0, { shops: [0, { 0: -1 }] }]),
    made([1, own, 0, { shops: [0, {}, 5, 'x'] }]),
    made([1, own, 0, { shops: [0, {}, 5, [{}]] }]),
  ]
  for (const text of wrong) expect(readCursor('acme', text), text).toBeUndefined()
  fc.assert(fc.property(fc.string(), (text) => void expect(readCursor('acme', text)).toBeUndefined()))
})
