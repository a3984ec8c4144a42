import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runner } from 'node-pg-migrate'
import { primaryOf } from '#platform/postgres/hosts.js'
import { packageRoot } from '#platform/process/package-root.js'

const folder = join(packageRoot, 'services/ledger/migrations')

export type Migrated = { run: number }

/** Runs the migrations that have not run yet. For each folder of migrations a table in Postgres lists those that have. */
export const migrate = async (postgresUrl: string): Promise<Migrated> => {
  const databaseUrl = await primaryOf(postgresUrl)
  let run = 0
  // One folder after the other: they share one lock.
  for (const schema of readdirSync(folder).sort()) {
    const done = await runner({
      databaseUrl,
      dir: join(folder, schema),
      migrationsSchema: 'public',
      migrationsTable: `migrations_${schema}`,
      direction: 'up',
      // By default the second of two processes that start at the same time fails.
      advisoryLockMode: 'wait',
      log: () => {},
    })
    run += done.length
  }
  return { run }
}
