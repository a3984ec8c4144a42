import { expect, it } from 'vitest'
import { findCursors, findPrunedBefore, holdCursor, lockCursor, markPruned, moveCursor } from '#ledger/cursors.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { eventually } from '../../support/eventually.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
const topic = 'weir.submitted.shops'
const lock = (partition: number) => inTransaction(pool, (connection) => lockCursor(connection, { topic, partition }))

it('is undefined where nothing was ever decided, and then where it was moved to', async () => {
  const first = await inTransaction(pool, async (connection) => {
    const cursor = await lockCursor(connection, { topic, partition: 0 })
    await moveCursor(connection, { topic, partition: 0 }, { next: 7, replayedFrom: null })
    return cursor
  })
  expect(first).toBeUndefined()
  const { lockedAt, ...known } = (await lock(0)) ?? { lockedAt: 0 }
  expect(known).toEqual({ next: 7, prunedBefore: undefined, prunedUntil: 0, overtakenUntil: 0, forgottenUntil: 0 })
  expect(Math.abs(lockedAt - Date.now())).toBeLessThan(60_000)
  expect((await findCursors(pool)).get(`${topic}/0`)).toBe(7)
})

it('is held by one transaction at a time, also by two that come first at the same moment', async () => {
  const order: string[] = []
  let second: Promise<unknown> = Promise.resolve()
  await inTransaction(pool, async (connection) => {
    await lockCursor(connection, { topic, partition: 1 })
    second = lock(1).then((cursor) => order.push(`second finds ${cursor?.next}`))
    await eventually(async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      expect((await pool.query(waiting)).rows).toHaveLength(1)
    })
    await moveCursor(connection, { topic, partition: 1 }, { next: 3, replayedFrom: null })
    order.push('first moves')
  })
  await second
  expect(order).toEqual(['first moves', 'second finds 3'])
})

it('is not made by pruning, which holds only cursors that are there', async () => {
  const hold = (partition: number) => inTransaction(pool, (connection) => holdCursor(connection, { topic, partition }))
  expect(await hold(2)).toBeUndefined()
  expect((await findCursors(pool)).has(`${topic}/2`)).toBe(false)
  await lock(2)
  expect(await hold(2)).toEqual({ replayedFrom: null })
})

it('remembers the latest moment up to which verdicts were pruned, and a millisecond more', async () => {
  await lock(3)
  expect(await findPrunedBefore(pool, { topic, partition: 3 })).toBeUndefined()
  for (const lastUsed of [2000, 1000]) {
    await inTransaction(pool, (connection) => markPruned(connection, { topic, partition: 3 }, new Date(lastUsed)))
    expect(await findPrunedBefore(pool, { topic, partition: 3 })).toBe(2001)
  }
})
