import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { askErasure, findErasure } from '#ledger/erasures/erasures.js'
import { createOrg } from '#ledger/organisations.js'
import { watchSystem } from '#query/operators/watch.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()

it('says that erasures have failed which did not end within a day, also while nobody erases, and counts them', async () => {
  await createOrg(pool, 'acme')
  const wanted = { orgId: 'acme', mode: 'erase', afterwards: 'refuse', isDryRun: false } as const
  const [late, young] = [
    await askErasure(pool, { ...wanted, personId: 'ann' }),
    await askErasure(pool, { ...wanted, personId: 'bob' }),
  ]
  await pool.query(`update erasure.erasures set begun_at = now() - interval '25 hours' where erasure_id = $1`, [
    late.erasureId,
  ])
  const failed: number[] = []
  const ignored = { set: () => {} }
  const watch = watchSystem({
    pool,
    clickhouse: { query: async () => [] },
    figures: {
      ...{
        keysEnding: ignored,
        verifiedAt: ignored,
        differences: ignored,
        used: ignored,
        free: ignored,
        size: ignored,
      },
      erasuresFailed: { set: (count) => failed.push(count) },
    },
    log: pino({ level: 'silent' }),
  })
  onTestFinished(watch.stop)
  await expect.poll(() => failed).toEqual([1])
  expect(await findErasure(pool, late.erasureId)).toMatchObject({
    status: 'failed',
    problem: 'nothing has begun it yet',
  })
  expect(await findErasure(pool, young.erasureId)).toMatchObject({ status: 'running', problem: null })
})
