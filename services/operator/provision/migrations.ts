import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runner } from 'node-pg-migrate'

/** Each service owns a schema, its migrations, and the table that tells which of them have run. */
const sets = [
  { table: 'migrations_auth', folder: 'services/edge/keys/migrations' },
  { table: 'migrations_integrity', folder: 'services/integrity/migrations' },
]

export type Migrated = { run: number }

export const migrate = async (postgresUrl: string): Promise<Migrated> => {
  const root = packageRoot(import.meta.dirname)
  let run = 0
  // One after the other: the lock below is one for all sets.
  for (const { table, folder } of sets) {
    const done = await runner({
      databaseUrl: postgresUrl,
      dir: join(root, folder),
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

// The compiler copies no .sql files: from dist/ as from the sources, they are found from the folder of package.json.
const packageRoot = (from: string): string => {
  if (existsSync(join(from, 'package.json'))) return from
  const above = dirname(from)
  if (above === from) throw new Error(`no package.json above ${import.meta.dirname}, so the migrations cannot be found`)
  return packageRoot(above)
}
