import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import type { RecordType } from '#schemas/record.js'
import { createInZone, readZone } from '../../../clients/uploader/records/zone.js'

const shops = catalogue.all.get('shops') as RecordType
const read = (created: unknown, zone?: string) => {
  let told = 0
  const record: Record<string, unknown> = { created, name: '2026-01-31T12:00:00' }
  const inZone = createInZone(shops, zone, () => told++)
  inZone(record)
  inZone(record)
  return { created: record.created, name: record.name, told }
}

it.each([
  ['2026-01-31T12:00', '2026-01-31T11:00:00Z'],
  ['2026-07-31 12:00:30.5', '2026-07-31T10:00:30.5Z'],
  // The first of the two hours, when clocks are set back.
  ['2026-10-25T02:30:00', '2026-10-25T00:30:00Z'],
  ['2026-10-25T03:30:00', '2026-10-25T02:30:00Z'],
  // There is no such hour, when they are set forward.
  ['2026-03-29T02:30:00', '2026-03-29T01:30:00Z'],
  ['2026-03-29T01:59:59', '2026-03-29T00:59:59Z'],
  ['2026-03-29T03:00:00', '2026-03-29T01:00:00Z'],
  ['2026-02-30T12:00:00', '2026-02-30T12:00:00'],
  ['2026-01-31T12:00:00+05:00', '2026-01-31T12:00:00+05:00'],
  ['yesterday', 'yesterday'],
  [1_769_860_800, 1_769_860_800],
])('reads %o of Berlin as %o', (given, utc) => {
  expect(read(given, 'Europe/Berlin')).toEqual({ created: utc, name: '2026-01-31T12:00:00', told: 0 })
})

it('tells once that a time without a zone is taken for UTC, where no zone is given', () => {
  expect(read('2026-01-31T12:00:00')).toMatchObject({ created: '2026-01-31T12:00:00', told: 1 })
  expect(read('2026-01-31T12:00:00Z').told).toBe(0)
  expect(read('2026-01-31 12:00:00').told).toBe(0)
})

it('knows zones by their names', () => {
  expect(readZone('europe/berlin')).toBe('Europe/Berlin')
  expect(() => readZone('Berlin')).toThrow('there is no zone Berlin: write one such as --zone Europe/Berlin')
})
