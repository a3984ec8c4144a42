import type pg from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { abandonAfter, createPool, endPool, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { eventually } from '../../../support/eventually.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { openLinkTo } from '../../../support/link.js'
import { sharedParts } from '../../../support/shared-parts.js'

const log = pino({ level: 'silent' })
let database: Awaited<ReturnType<typeof createFreshDatabase>>
let link: Awaited<ReturnType<typeof openLinkTo>>
let direct: Pool
let pool: Pool

beforeAll(async () => {
  database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  link = await openLinkTo(database.url)
  direct = createPool(database.url, log, 1)
  await direct.query('create table cursors (id int primary key)')
  await direct.query('insert into cursors values (1)')
})
afterEach(() => endPool(pool))
afterAll(async () => {
  await endPool(direct)
  await link.close()
  await database.drop()
})

const lock = (connection: pg.ClientBase) => connection.query('select from cursors where id = 1 for update')

it('lets go of a link that died without a word, and Postgres lets go of the locks behind it', async () => {
  pool = createPool(link.url, log, 2, { queryTimeout: 1_000 })
  const stranded = inTransaction(pool, async (connection) => {
    await lock(connection)
    link.lose()
    await connection.query('select 1')
  })
  await expect(stranded).rejects.toThrow('Query read timeout')
  // Another connection of the same pool, which waits for as long as the dead one holds the lock.
  await eventually(() => inTransaction(pool, lock), 20_000)
})

it('ends a statement that takes too long on the server too', async () => {
  pool = createPool(database.url, log, 1, { queryTimeout: 500 })
  await expect(pool.query('select pg_sleep(60)')).rejects.toThrow(/timeout/)
  await eventually(async () => {
    const { rows } = await direct.query(
      `select 1 from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'`,
    )
    expect(rows).toEqual([])
  })
})

it('gives the statements of one transaction longer than those of the pool, and no longer than it says', async () => {
  // Also how long a transaction may do nothing: a busy machine may let that much pass between two statements.
  pool = createPool(database.url, log, 1, { queryTimeout: 2_000 })
  const sleepFor = (seconds: number, queryTimeout: number) =>
    inTransaction(pool, (connection) => connection.query('select pg_sleep($1::float8)', [seconds]), { queryTimeout })
  await sleepFor(2.5, 20_000)
  await expect(sleepFor(60, 1_000)).rejects.toThrow(/timeout/)
  // The next one on the same connections has the pool's bound again.
  await expect(pool.query('select pg_sleep(60)')).rejects.toThrow(/timeout/)
})

it('leaves those who asked for no bound alone', async () => {
  pool = createPool(database.url, log, 1)
  const { rows } = await pool.query('show statement_timeout')
  expect(rows).toEqual([{ statement_timeout: '0' }])
})

it('lets a service stop although Postgres hangs: what is under way fails, and what comes later', async () => {
  pool = createPool(link.url, log, 2, { queryTimeout: 60_000 })
  await pool.query('select 1')
  link.freeze()
  try {
    const hanging = pool.query('select 2')
    abandonAfter(100, pool)
    await expect(hanging).rejects.toThrow()
    await expect(pool.query('select 3')).rejects.toThrow(/after calling end/)
  } finally {
    link.thaw()
  }
})
