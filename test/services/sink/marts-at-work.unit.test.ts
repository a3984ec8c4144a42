import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { keptMarts } from '#schemas/derive/clickhouse/kept.js'
import type { Due } from '../../../services/sink/due-marts.js'
import type { MartKeeper } from '../../../services/sink/keep-marts.js'
import type { SegmentKeeper } from '../../../services/sink/keep-segments.js'
import { startKeepingMarts } from '../../../services/sink/marts-at-work.js'
import { eventually } from '../../support/eventually.js'

const dueOf = (name: string, isWhole: boolean): Due => {
  const mart = keptMarts.find((each) => each.name === name) ?? expect.fail(name)
  return { org: 'acme', mart, isWhole }
}
const log = pino({ level: 'silent' })

/** A keeper that remembers what it was told to do; what is due stays so until it is done, and what is long until all that is short is done. */
const start = (
  due: Due[],
  options: { isLeading?: () => boolean; isLong?: (due: Due) => boolean; fails?: number; own?: string[] } = {},
) => {
  const left = [...due]
  const ownLeft = options.own ?? []
  const done: string[] = []
  let fails = options.fails ?? 0
  const keeper: MartKeeper = {
    large: async () => ['acme'],
    due: async () => [...left],
    keep: async (next) => {
      if (fails-- > 0) throw new Error('no')
      const isLong = options.isLong ?? (() => false)
      do await wait(1)
      while (isLong(next) && !left.every(isLong))
      left.splice(left.indexOf(next), 1)
      done.push(next.mart.name)
    },
    forget: async () => undefined,
  }
  const segments: SegmentKeeper = {
    due: async () =>
      ownLeft.map((segment) => ({ org: 'acme', segment, version: 1, condition: 'true', isDropped: false })),
    findMembers: async ({ segment }) => {
      if (segment === 'broken') throw new Error('no')
      ownLeft.splice(ownLeft.indexOf(segment), 1)
      done.push(segment)
    },
    countNamed: async () => {
      if (ownLeft.length > 0) done.push('counted')
    },
  }
  const pace = { lookEvery: 2, segmentsEvery: 2, afterFailure: 50 }
  const { stop } = startKeepingMarts({
    ...{ keeper, segments, isLeading: options.isLeading ?? (() => true), metrics: createMetrics('sink'), log, pace },
  })
  return { done, stop }
}

it('does what takes moments beside what takes minutes', async () => {
  const due = [dueOf('funnel', true), dueOf('sales_by_day', false), dueOf('customers_overview', false)]
  const { done, stop } = start(due, { isLong: ({ isWhole }) => isWhole })
  await eventually(() => expect(done).toEqual(['sales_by_day', 'customers_overview', 'funnel']))
  await stop()
})

it('leaves it to the sink that leads, and takes over from it', async () => {
  let isLeading = false
  const { done, stop } = start([dueOf('sales_by_day', true)], { isLeading: () => isLeading })
  await wait(50)
  expect(done).toEqual([])
  isLeading = true
  await eventually(() => expect(done).toEqual(['sales_by_day']))
  await stop()
})

it('tries again what failed, after the others', async () => {
  const { done, stop } = start([dueOf('funnel', true), dueOf('cohorts', true)], { fails: 1 })
  await eventually(() => expect(done).toEqual(['cohorts', 'funnel']))
  await stop()
})

it('counts segments and finds the members of own ones, and one that fails keeps no other waiting', async () => {
  const { done, stop } = start([], { own: ['broken', 'thrifty', 'far away'] })
  await eventually(() => expect(done).toEqual(['counted', 'thrifty', 'far away']))
  await stop()
})
