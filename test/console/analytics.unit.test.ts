import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { daysOf, sumsByDay } from '../../clients/console/pages/analytics/days.js'
import { liftOf } from '../../clients/console/pages/analytics/lift.js'
import { readChoice } from '../../clients/console/pages/analytics/marts.js'
import { money, sumExactly } from '../../clients/console/pages/analytics/money.js'

describe('money', () => {
  it('adds up to the last of nine decimals', () => {
    expect(sumExactly(['0.1', '0.2', '10.3'])).toBe('10.6')
    expect(sumExactly(['90071992547409930.01', '0.000000001', '-1'])).toBe('90071992547409929.010000001')
    expect([sumExactly([]), sumExactly(['-0.5', '0.25']), sumExactly(['2', '3'])]).toEqual(['0', '-0.25', '5'])
  })

  it('adds as whole numbers of the smallest part do', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n })), (units) => {
        const text = (n: bigint) => {
          const digits = String(n < 0n ? -n : n).padStart(10, '0')
          return `${n < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
        }
        const sum = units.reduce((total, each) => total + each, 0n)
        expect(sumExactly(units.map(text))).toBe(
          text(sum)
            .replace(/\.?0+$/, '')
            .replace(/^-0$/, '0'),
        )
      }),
    )
  })

  it('is read with two decimals', () => {
    expect([money('1234567.891'), money('5')]).toEqual(['1,234,567.89', '5.00'])
  })
})

describe('days', () => {
  const rows = [
    { day: '2026-03-01', amount: '1.5' },
    { day: '2026-02-27', amount: '2' },
    { day: '2026-03-01', amount: '0.5' },
  ]

  it('has each of them, from end to end of what was chosen, or else of the rows', () => {
    const all = ['2026-02-27', '2026-02-28', '2026-03-01']
    expect(daysOf({ from: null, to: null }, rows)).toEqual(all)
    expect(daysOf({ from: '2026-02-26', to: '2026-02-27' }, rows)).toEqual(['2026-02-26', '2026-02-27'])
    expect(daysOf({ from: null, to: null }, [])).toEqual([])
    expect(daysOf({ from: '1970-01-02', to: '2026-03-01' }, rows).at(-1)).toBe('2026-03-01')
    expect(sumsByDay(all, rows, 'amount')).toEqual([2, 0, 2])
  })
})

describe('lift', () => {
  it('is how many times as often a purchase follows, with its range', () => {
    const counts = { recommended: 100, recommended_bought: 20, others: 200, others_bought: 20 }
    const { lift, recommendedShare, othersShare } = liftOf(counts)
    expect([recommendedShare, othersShare]).toEqual([0.2, 0.1])
    // As the mart recommendation_lift has it for the same counts: test/schemas/marts/marts.int.test.ts.
    expect([lift?.value, lift?.low.toFixed(3), lift?.high.toFixed(3)]).toEqual([2, '1.129', '3.542'])
  })

  it('is not said where one side has no purchase', () => {
    expect(liftOf({ recommended: 5, recommended_bought: 0, others: 9, others_bought: 3 }).lift).toBeNull()
    expect(liftOf({ recommended: 0, recommended_bought: 0, others: 9, others_bought: 3 })).toMatchObject({
      ...{ recommendedShare: null, lift: null },
    })
  })
})

describe('what the address chooses', () => {
  const now = Date.parse('2026-03-31T12:00:00Z')
  const read = (text: string) => readChoice(new URLSearchParams(text), now)

  it('is the last 30 days of everything where it says nothing, or nothing that can be', () => {
    const usual = { time: '30', from: '2026-03-02', to: '2026-03-31', region: '', shop: '' }
    expect(read('')).toEqual(usual)
    expect(read("time=1e9&region=gb&shop=' or 1&from=2026-01-01")).toEqual(usual)
  })

  it('is any days, all of them, a region and a shop', () => {
    const shop = '00000000-0000-4000-8000-000000000001'
    expect(read(`time=own&from=2026-01-01&to=2026-01-31&region=GB&shop=${shop}`)).toEqual({
      ...{ time: 'own', from: '2026-01-01', to: '2026-01-31', region: 'GB', shop },
    })
    expect(read('time=all')).toMatchObject({ from: null, to: null })
    expect(read('time=own&from=2026-02-01&to=2026-01-01')).toMatchObject({ from: '2026-02-01', to: null })
    expect(read('time=own&from=2026-99-01')).toMatchObject({ from: null })
  })
})
