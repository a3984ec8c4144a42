import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { tryAlone } from '#platform/postgres/alone.js'
import { createPool, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { eventually } from '../../../support/eventually.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { openPostgresLink, type PostgresLink } from '../../../support/postgres-link.js'
import { sharedParts } from '../../../support/shared-parts.js'

const log = pino({ level: 'silent' })
let database: Awaited<ReturnType<typeof createFreshDatabase>>
let link: PostgresLink
let pool: Pool

beforeEach(async () => {
  database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  link = await openPostgresLink(database.url)
  pool = createPool(link.url, log, 2, { queryTimeout: 1_000 })
  await pool.query('create table cursors (next_offset integer)')
  await pool.query('insert into cursors values (0)')
})
afterEach(async () => {
  await link.close()
  await pool.end()
  await database.drop()
})

const moveTo = (offset: number, between = async () => {}) =>
  inTransaction(pool, async (connection) => {
    await connection.query('select next_offset from cursors for update')
    await between()
    await connection.query('update cursors set next_offset = $1', [offset])
  })
const offsetNow = async () => (await pool.query<{ next_offset: number }>('select * from cursors')).rows[0]?.next_offset

it('commits what resolves and rolls back what throws', async () => {
  await moveTo(1)
  const fails = moveTo(2, async () => {
    throw new Error('on second thoughts')
  })
  await expect(fails).rejects.toThrow('on second thoughts')
  expect(await offsetNow()).toBe(1)
})

it('runs what is sent at once in that order, all of it or nothing, and begins with it', async () => {
  const moveTwice = (first: unknown, second: unknown) =>
    inTransaction(
      pool,
      async (connection, begun) => {
        const [{ rows }] = await Promise.all([connection.query('select next_offset from cursors for update'), begun])
        await Promise.all(
          [first, second].map((offset) => connection.query('update cursors set next_offset = $1', [offset])),
        )
        return rows
      },
      { readsAhead: true },
    )
  expect(await moveTwice(3, 4)).toEqual([{ next_offset: 0 }])
  expect(await offsetNow()).toBe(4)
  await expect(moveTwice('no number', 5)).rejects.toThrow('no number')
  await expect(moveTwice(5, 'no number')).rejects.toThrow('no number')
  expect(await offsetNow()).toBe(4)
})

it('gives up a connection that died without a word, and goes on with another', async () => {
  await expect(moveTo(1, async () => link.lose())).rejects.toThrow('timeout')
  expect(await offsetNow()).toBe(0)
})

it('lets go of what a sleeper holds, so that others go on', async () => {
  // Asleep: connected, in its transaction, and silent. Patient enough to wait for Postgres to act.
  const others = createPool(database.url, log, 1)
  try {
    await expect(
      moveTo(1, async () => {
        await others.query('update cursors set next_offset = 2')
      }),
    ).rejects.toThrow()
  } finally {
    await others.end()
  }
  expect(await offsetNow()).toBe(2)
})

it('lets another be alone where the first one sleeps, and tells the first when it wakes', async () => {
  let wake = (): void => {}
  const sleeps = new Promise<void>((resolve) => {
    wake = resolve
  })
  const first = tryAlone(pool, 'a test', (stillAlone) => sleeps.then(stillAlone), { sleepWithin: 200 })
  first.catch(() => {})
  await eventually(async () => expect(await tryAlone(pool, 'a test', async () => 'second')).toEqual({ done: 'second' }))
  wake()
  await expect(first).rejects.toThrow()
})
