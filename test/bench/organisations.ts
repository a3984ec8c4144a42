import { pino } from 'pino'
import { createKeyText, hashKey } from '#ledger/key-text.js'
import { insertKey } from '#ledger/keys.js'
import { createOrg } from '#ledger/organisations.js'
import { createPool, inTransaction } from '#platform/postgres/postgres.js'

/** New organisations with a key each, made as `weir keys issue` makes them. */
export const makeOrganisations = async (postgresUrl: string, name: string, count: number): Promise<string[]> => {
  const pool = createPool(postgresUrl, pino({ level: 'silent' }), 1)
  try {
    return await inTransaction(pool, async (connection) => {
      const keys: string[] = []
      for (let n = 0; n < count; n++) {
        const { keyId, key } = createKeyText()
        const org = `bench-${name}-${n}`
        await createOrg(connection, org)
        await insertKey(connection, { keyId, hash: hashKey(key), org, scopes: null, lifetime: null })
        keys.push(key)
      }
      return keys
    })
  } finally {
    await pool.end()
  }
}
