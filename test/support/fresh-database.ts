import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { createPool } from '#platform/postgres/postgres.js'

const log = pino({ level: 'silent' })

/** A database that no other test knows, on the server that all share. */
export const createFreshDatabase = async (postgresUrl: string): Promise<{ url: string; drop: () => Promise<void> }> => {
  const name = `test_${randomBytes(4).toString('hex')}`
  const run = async (statement: string): Promise<void> => {
    const pool = createPool(postgresUrl, log, 1)
    try {
      await pool.query(statement)
    } finally {
      await pool.end()
    }
  }
  await run(`create database ${name}`)
  const url = new URL(postgresUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) }
}
