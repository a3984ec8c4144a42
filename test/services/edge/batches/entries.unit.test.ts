import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toStoredRecord } from '../../../../services/edge/batches/entries.js'

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)

it('keeps a record as JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (given) => {
      expect(toStoredRecord(given)).toEqual({ record: JSON.stringify(given), truncated: false })
    }),
  )
})

it('cuts at 64 KiB, between characters', () => {
  for (const text of ['x', 'é', '漢', '𝒳']) {
    const { record, truncated } = toStoredRecord(text.repeat(70_000))
    expect(truncated).toBe(true)
    expect(Buffer.byteLength(record)).toBeGreaterThan(65_536 - 4)
    expect(Buffer.byteLength(record)).toBeLessThanOrEqual(65_536)
    expect(record.isWellFormed()).toBe(true)
  }
  expect(toStoredRecord('漢'.repeat(21_000)).truncated).toBe(false)
})

it('keeps nothing of a record that is too deep to be written', () => {
  expect(toStoredRecord(nested(100)).truncated).toBe(false)
  for (const levels of [102, 1_000_000]) {
    expect(toStoredRecord(nested(levels))).toEqual({ record: '(nested more than 100 levels deep)', truncated: true })
  }
})
