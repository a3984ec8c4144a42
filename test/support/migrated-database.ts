import { pino } from 'pino'
import { afterAll } from 'vitest'
import { migrate } from '#ledger/migrate.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { createFreshDatabase } from './fresh-database.js'
import { sharedParts } from './shared-parts.js'

/** A database of this file alone, with Weir's tables and none of its data; gone after the file's last test. */
export const openMigratedDatabase = async (connections?: number): Promise<{ url: string; pool: Pool }> => {
  const database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  await migrate(database.url)
  const pool = createPool(database.url, pino({ level: 'silent' }), connections)
  afterAll(async () => {
    await pool.end()
    await database.drop()
  })
  return { url: database.url, pool }
}
