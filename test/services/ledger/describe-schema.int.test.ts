import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { describeSchema } from '#ledger/describe-schema.js'
import { createPool } from '#platform/postgres/postgres.js'
import { createFreshDatabase } from '../../support/fresh-database.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sharedParts } from '../../support/shared-parts.js'

const { pool } = await openMigratedDatabase()
const empty = await createFreshDatabase(sharedParts.POSTGRES_URL)
const other = createPool(empty.url, pino({ level: 'silent' }), 1)
afterAll(async () => {
  await other.end()
  await empty.drop()
})

it('has committed what the migrations make; if not: npm run publish-schemas', async () => {
  const committed = readFileSync(new URL('../../../schemas/published/postgres.sql', import.meta.url), 'utf8')
  expect(await describeSchema(pool)).toBe(committed)
})

it('makes the same tables in an empty database', async () => {
  const sql = await describeSchema(pool)
  await other.query(sql)
  // Only the comments are not made anew.
  const withoutComments = (text: string) => text.replaceAll(/^ *--.*\n/gm, '')
  expect(withoutComments(await describeSchema(other))).toBe(withoutComments(sql))
})

it.each([
  ['create view integrity.newest as select 1 as one', 'integrity.newest'],
  ['create sequence edge.by_two increment by 2', 'edge.by_two'],
  ["create type auth.state as enum ('new', 'old')", 'auth.state'],
  [
    'alter table edge.requests add column n integer generated always as identity',
    'edge.requests.n, edge.requests_n_seq',
  ],
])('says what it cannot describe: %s', async (statement, name) => {
  const connection = await pool.connect()
  try {
    await connection.query('begin')
    await connection.query(statement)
    await expect(describeSchema(connection)).rejects.toThrow(`cannot describe ${name}`)
  } finally {
    await connection.query('rollback')
    connection.release()
  }
})
