import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { findArrived, findDue } from '#ledger/waiting/turns.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'

const { pool: given, url } = await openMigratedDatabase()
// As integrity has it.
const pool = createPool(url, pino({ level: 'silent' }), 1, { queryTimeout: 15_000, byIndexes: true })
afterAll(() => pool.end())

const now = Date.UTC(2026, 5, 1, 12)
/** `count` waiting records of each of these organisations. */
const insertWaits = (orgs: string, count: number, until: number, dueAt: number | null = null) =>
  given.query(
    `insert into integrity.waiting (batch_id, place, org_id, type, id, request_id, request_index, version, topic, partition,
      message, missing, since, until, due_at, changed_at, is_told, is_checked)
    select gen_random_uuid(), n, org, 'branches', gen_random_uuid(), gen_random_uuid(), n, n, 't', 0, 'abc', '[]', $2, $2, $3, $2,
      true, true
    from ${orgs} org, generate_series(1, $1::integer) n`,
    [count, new Date(until), dueAt === null ? null : new Date(dueAt)],
  )
const one = (org: string) => `unnest(array['${org}'])`

it('finds one that is due behind a hundred thousand of another organisation, and meets none of ten thousand that have nothing due', async () => {
  await insertWaits("(select 'idle-' || n as org from generate_series(1, 10000) n)", 5, now + 3_600_000)
  await insertWaits(one('flood'), 100_000, now - 60_000)
  await insertWaits(one('small'), 1, now - 1)
  await insertWaits(one('small-sent'), 1, now + 3_600_000, now - 1)
  await given.query('analyze integrity.waiting')
  const { due, goOnAfter } = await findDue(pool, 'until', now, 2_000, undefined)
  expect([due.filter(({ orgId }) => orgId === 'small').length, due.length, goOnAfter]).toEqual([1, 1_001, undefined])
  expect((await findDue(pool, 'due_at', now, 2_000, undefined)).due.map(({ orgId }) => orgId)).toEqual(['small-sent'])
  // A row that is returned takes one block of the table; all of the flood's rows would take thousands, and so would all that are idle.
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await pool.query(`set plan_cache_mode = ${mode}`)
    expect(await blocksOf((explained) => findDue(explained, 'until', now, 200, undefined))).toBeLessThan(300)
    expect(await blocksOf((explained) => findDue(explained, 'due_at', now, 200, undefined))).toBeLessThan(30)
    expect(await blocksOf((explained) => findDue(explained, 'until', now - 3_600_000, 200, undefined))).toBeLessThan(30)
  }
})

/** How many blocks Postgres looks at for the statement that this makes. */
const blocksOf = async (ask: (explained: Pool) => Promise<unknown>): Promise<number> => {
  let blocks = 0
  const query = async ({ text, values }: { text: string; values: unknown[] }) => {
    const { rows } = await pool.query(`explain (analyze, buffers, format json) ${text}`, values)
    const plan = rows[0]['QUERY PLAN'][0].Plan
    blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    return { rows: [] }
  }
  await ask({ query } as unknown as Pool)
  return blocks
}

it('comes to every organisation where more have something than one look sees', async () => {
  const later = now + 3_600_000
  const seen = new Set<string>()
  let after: Awaited<ReturnType<typeof findDue>>['goOnAfter']
  let looks = 0
  do {
    const found = await findDue(pool, 'until', later, 2_000, after)
    for (const { orgId } of found.due) seen.add(orgId)
    after = found.goOnAfter
    looks++
  } while (after)
  expect([seen.size, looks]).toEqual([10_002, 21])

  await given.query(
    `insert into integrity.waiting_arrived (org_id, type, id, arrived_at)
    select 'arrived-' || n % 1200, 'shops', gen_random_uuid(), now() from generate_series(1, 5000) n`,
  )
  const arrivedOf = new Set<string>()
  let last: string | undefined
  looks = 0
  do {
    const found = await findArrived(pool, 2_000, 10_000, last)
    for (const { orgId } of found.arrived) arrivedOf.add(orgId)
    last = found.goOnAfter
    looks++
  } while (last)
  expect([arrivedOf.size, looks]).toEqual([1_200, 3])
})
