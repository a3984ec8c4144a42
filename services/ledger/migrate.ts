import { join } from 'node:path'
import { runner } from 'node-pg-migrate'
import { packageRoot } from '#platform/process/package-root.js'

/** Each service owns a schema, its migrations, and the table that tells which of them have run. */
const sets = [
  { table: 'migrations_auth', folder: 'services/ledger/migrations/auth' },
  { table: 'migrations_integrity', folder: 'services/ledger/migrations/integrity' },
  { table: 'migrations_edge', folder: 'services/ledger/migrations/edge' },
]

export type Migrated = { run: number }

export const migrate = async (postgresUrl: string): Promise<Migrated> => {
  let run = 0
  // One after the other: the lock below is one for all sets.
  for (const { table, folder } of sets) {
    const done = await runner({
      databaseUrl: postgresUrl,
      dir: join(packageRoot, folder),
      migrationsSchema: 'public',
      migrationsTable: table,
      direction: 'up',
      // The default fails those that start side by side.
      advisoryLockMode: 'wait',
      log: () => {},
    })
    run += done.length
  }
  return { run }
}
