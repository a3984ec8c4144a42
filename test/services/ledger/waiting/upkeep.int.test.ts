import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { countReleased, uncheckWaits } from '#ledger/waiting/upkeep.js'
import type { WaitPlace } from '#ledger/waiting/waits.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { insertWait } from '../../../support/waits.js'

const { pool } = await openMigratedDatabase()
beforeEach(() => pool.query('truncate integrity.waiting, integrity.waiting_for'))

it('has everything that waits looked at anew, step by step, also where integrity is done with some of it meanwhile', async () => {
  for (let n = 0; n < 7; n++) await insertWait(pool)
  await insertWait(pool, { state: 'accepted' })
  const looked: WaitPlace[] = []
  for (let last: WaitPlace | undefined; ; looked.push(last)) {
    last = await inTransaction(pool, (connection) => uncheckWaits(connection, last, 3))
    if (!last) break
    // Integrity is quick: it has looked at these already.
    await pool.query(`update integrity.waiting set is_checked = true, version = version + 1
      where state = 'waiting' and not is_checked`)
  }
  expect(looked).toHaveLength(3)
  const { rows } = await pool.query(`select state, version from integrity.waiting order by state, version`)
  expect(rows).toEqual([
    { state: 'accepted', version: 8192 },
    ...Array.from({ length: 7 }, () => ({ state: 'waiting', version: 8193 })),
  ])
})

it('counts what was accepted lately by the batches that it came in, of one organisation and type', async () => {
  const [batchId, other] = [randomUUID(), randomUUID()]
  const day = (n: number) => new Date(Date.UTC(2026, 0, n))
  const accepted = { state: 'accepted' as const, changedAt: day(3) }
  for (const place of [0, 1]) await insertWait(pool, { ...accepted, batchId, place })
  await insertWait(pool, { ...accepted, batchId: other, changedAt: day(4) })
  await insertWait(pool, { ...accepted, batchId, place: 2, changedAt: day(1) })
  await insertWait(pool, { batchId, place: 3 })
  await insertWait(pool, { ...accepted, org: 'other' })
  await insertWait(pool, { ...accepted, type: 'branches' })
  const since = { org: 'acme', type: 'offers', since: day(2) }
  expect(await countReleased(pool, since, 9)).toEqual([
    { batchId: other, accepted: 1 },
    { batchId, accepted: 2 },
  ])
  expect(await countReleased(pool, since, 1)).toHaveLength(1)
})
