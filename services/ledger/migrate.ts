import { readdirSync } from 'node:fs'
import { join, parse } from 'node:path'
import { runner } from 'node-pg-migrate'
import { primaryOf } from '#platform/postgres/hosts.js'
import { type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import { packageRoot } from '#platform/process/package-root.js'

const folder = join(packageRoot, 'services/ledger/migrations')

/** How many migrations of this Weir have not run in a database. */
export const countPending = async (db: Database): Promise<number> => {
  let pending = 0
  for (const schema of readdirSync(folder)) {
    const table = `public.migrations_${schema}`
    const isThere = await firstRow<{ there: boolean }>(db, 'select to_regclass($1) is not null as there', [table])
    const run = isThere?.there ? await rowsOf<{ name: string }>(db, `select name from ${table}`) : []
    const names = new Set(run.map(({ name }) => name))
    pending += readdirSync(join(folder, schema)).filter((file) => !names.has(parse(file).name)).length
  }
  return pending
}

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
