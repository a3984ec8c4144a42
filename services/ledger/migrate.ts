import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runner } from 'node-pg-migrate'
import { packageRoot } from '#platform/process/package-root.js'

const folder = join(packageRoot, 'services/ledger/migrations')

export type Migrated = { run: number }

/** Brings every schema of Weir to its newest form. Each folder of migrations has a table that tells which of them have run. */
export const migrate = async (postgresUrl: string): Promise<Migrated> => {
  let run = 0
  // One after the other: the lock below is one for all of them.
  for (const schema of readdirSync(folder).sort()) {
    const done = await runner({
      databaseUrl: postgresUrl,
      dir: join(folder, schema),
      migrationsSchema: 'public',
      migrationsTable: `migrations_${schema}`,
      direction: 'up',
      // The default fails those that start side by side.
      advisoryLockMode: 'wait',
      log: () => {},
    })
    run += done.length
  }
  return { run }
}
