import { pino } from 'pino'
import { afterAll, inject } from 'vitest'
import { migrate } from '#ledger/migrate.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { createFreshDatabase } from './fresh-database.js'

/** A database of this file alone, with Weir's tables and none of its data; gone after the file's last test. */
export const openMigratedDatabase = async (connections?: number): Promise<{ url: string; pool: Pool }> => {
  const database = await createFreshDatabase(inject('parts').POSTGRES_URL)
  await migrate(database.url)
  const pool = createPool(database.url, pino({ level: 'silent' }), connections)
  afterAll(async () => {
    await pool.end()
    await database.drop()
  })
  return { url: database.url, pool }
}
