import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  readCount,
  readDuration,
  readLifetime,
  readMoment,
  readName,
  readOrg,
} from '../../../../services/operator/command/arguments.js'

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

describe('a moment', () => {
  const now = Date.parse('2026-03-31T12:00:00Z')

  it.each([
    ['30m', '2026-03-31T11:30:00.000Z'],
    ['7d', '2026-03-24T12:00:00.000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:30:00+02:00', '2026-01-31T10:30:00.000Z'],
  ])('can be %s', (given, meant) => expect(new Date(readMoment(given, now, 'no')).toISOString()).toBe(meant))

  it.each(['yesterday', '2026-02-30', '2026-01-31T25:00:00Z', ''])('cannot be %j', (given) =>
    expect(() => readMoment(given, now, 'not a moment')).toThrow('not a moment'),
  )

  it('that is an unknown time ago says so', () =>
    expect(() => readMoment('24x', now, 'not a moment')).toThrow('"24x" is not a duration'))
})

describe("an organisation's id", () => {
  it.each(['a', 'acme', 'acme-2', '0', 'a'.repeat(63)])('can be %s', (org) => expect(readOrg(org)).toBe(org))
  it.each(['', 'Acme', '-acme', 'a/b', 'a b', 'acme\n', 'a'.repeat(64), '__proto__'])('cannot be %j', (org) =>
    expect(() => readOrg(org)).toThrow("cannot be an organisation's id"),
  )
})

describe('a count', () => {
  it.each([
    ['0', 0, 0],
    ['999999', 0, 999_999],
    ['1', 1, 1],
  ])('can be %s, not below %d', (given, least, count) => expect(readCount(given, 'no', least)).toBe(count))

  it.each([
    ['0', 1],
    ['-1', 0],
    ['1000000', 0],
    ['1.5', 0],
    ['', 0],
    ['many', 0],
  ])('cannot be %j, not below %d', (given, least) => {
    expect(() => readCount(given, 'not a count', least)).toThrow('not a count')
  })
})

describe('a name', () => {
  const known = ['shops', 'shop-tags'] as const
  it('is one of those known', () => expect(readName('type', 'shops', known)).toBe('shops'))
  it('has a neighbour where it is mistyped', () =>
    expect(() => readName('type', 'shop_tags', known)).toThrow('there is no type "shop_tags": did you mean shop-tags?'))
  it('is told what is known where nothing is near', () =>
    expect(() => readName('type', 'everything', known)).toThrow(
      'there is no type "everything": known are shops, shop-tags',
    ))
})
