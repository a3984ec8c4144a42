import { describe, expect, it } from 'vitest'
import { everything } from '#schemas/marts/mart.js'
import { findDue } from '../../../services/sink/due-marts.js'

const mart = (name: string, from: string[], kept = {}) => ({
  ...{ name, from, kept, about: '', grain: '', columns: {}, sql: () => everything(name) },
})
const sales = mart('sales', ['transactions'])
const clock = mart('clock', ['customers'], { byClock: true })
const second = 1000
const hour = 3600 * second
const now = 1000 * hour

const dueOf = (of: { changes?: [string, number][]; shown?: [string, number][]; marts?: (typeof sales)[] }) =>
  findDue({
    marts: of.marts ?? [sales, clock],
    large: ['acme'],
    changes: (of.changes ?? []).map(([type, ago]) => ({ org: 'acme', type, storedAt: now - ago })),
    shown: (of.shown ?? []).map(([name, ago]) => ({ org: 'acme', mart: name, keptAt: now - ago, wholeAt: now - ago })),
    now,
  }).map(({ org, mart: { name } }) => `${org} ${name}`)

describe('what has to be made anew', () => {
  it('is what was never made', () => {
    expect(dueOf({ shown: [['clock', second]] })).toEqual(['acme sales'])
  })
  it('is what changed since, and not what other records changed', () => {
    const shown: [string, number][] = [
      ['sales', 600 * second],
      ['clock', 600 * second],
    ]
    expect(dueOf({ shown, changes: [['transactions', 300 * second]] })).toEqual(['acme sales'])
    expect(dueOf({ shown, changes: [['shops', 300 * second]] })).toEqual([])
  })
  it('is what was made while the last change might not have been seen, once that is over', () => {
    const marts = [sales]
    expect(dueOf({ marts, shown: [['sales', 20 * second]], changes: [['transactions', 30 * second]] })).toEqual([])
    expect(dueOf({ marts, shown: [['sales', 60 * second]], changes: [['transactions', 70 * second]] })).toEqual([
      'acme sales',
    ])
    expect(dueOf({ marts, shown: [['sales', 5 * second]], changes: [['transactions', 70 * second]] })).toEqual([])
  })
  it('is what the time changes, by the hour, and everything twice a day', () => {
    const shown = (ago: number): [string, number][] => [
      ['sales', ago],
      ['clock', ago],
    ]
    expect(dueOf({ shown: shown(hour) })).toEqual(['acme clock'])
    expect(dueOf({ shown: shown(12 * hour) })).toEqual(['acme clock', 'acme sales'])
  })
  it('begins with what has waited longest', () => {
    const changes: [string, number][] = [
      ['transactions', 100 * second],
      ['customers', 200 * second],
    ]
    const shown: [string, number][] = [
      ['sales', 300 * second],
      ['clock', 300 * second],
    ]
    expect(dueOf({ shown, changes })).toEqual(['acme clock', 'acme sales'])
  })
})
