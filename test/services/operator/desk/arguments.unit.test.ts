import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDuration, readLifetime, toDistance } from '../../../../services/operator/desk/arguments.js'

describe('a duration', () => {
  it.each([
    ['0', 0],
    ['45s', 45_000],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
    ['2w', 1_209_600_000],
    ['0h', 0],
  ])('%s is %d ms', (given, ms) => expect(readDuration(given)).toBe(ms))

  it.each(['', '90', '90 d', '-1d', '1.5h', '1y', 'd', '1d2h', '1D', 'NaN', 'Infinityd', '٣d'])(
    '%j is none',
    (given) => {
      expect(() => readDuration(given)).toThrow('is not a duration: write a number and a unit')
    },
  )

  it('ends within a century, so that every date can be kept', () => {
    expect(() => readDuration('36501d')).toThrow('longer than 100 years')
    fc.assert(
      fc.property(fc.nat(36_500), fc.constantFrom('s', 'm', 'h', 'd'), (n, unit) => {
        expect(new Date(Date.now() + readDuration(`${n}${unit}`)).getTime()).not.toBeNaN()
      }),
    )
  })

  it('must last where a key lives by it', () => expect(() => readLifetime('0')).toThrow('of no use'))
})

it.each([
  [-5_000, 'a moment ago'],
  [30_000, 'in a moment'],
  [-5 * 60_000, '5 min ago'],
  [24 * 3_600_000, 'in 24 h'],
  [90 * 86_400_000, 'in 90 d'],
])('%d ms away reads "%s"', (ms, text) => {
  const now = new Date('2026-01-01T00:00:00Z')
  expect(toDistance(new Date(now.getTime() + ms), now)).toBe(text)
})
