import { createKeyText, hashKey } from '#ledger/key-text.js'
import { insertKey, revokeKey } from '#ledger/keys.js'
import { createOrg } from '#ledger/organisations.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'

const lifetime = 15 * 60_000
const renewAfter = 10 * 60_000

export type RunKeys = {
  /** A key of this organisation that will live for some minutes more. */
  keyOf: (org: string) => Promise<string>
  revokeAll: () => Promise<void>
}

/** Keys for one run of a command: narrow, and short-lived, so that a run that is killed leaves nothing that lasts. */
export const createRunKeys = (pool: Pool, scopesOf: (org: string) => string[], now = Date.now): RunKeys => {
  const issued = new Map<string, { keyId: string; key: string; at: number }>()

  const issue = async (org: string): Promise<string> => {
    const { keyId, key } = createKeyText()
    await inTransaction(pool, async (connection) => {
      // Interactions that need no key may be of an organisation that nobody ever made.
      await createOrg(connection, org)
      await insertKey(connection, { keyId, hash: hashKey(key), org, scopes: scopesOf(org), lifetime })
    })
    issued.set(org, { keyId, key, at: now() })
    return key
  }

  return {
    keyOf: async (org) => {
      const found = issued.get(org)
      if (found && now() - found.at < renewAfter) return found.key
      if (found) await revokeKey(pool, found.keyId)
      return issue(org)
    },
    revokeAll: async () => {
      for (const { keyId } of issued.values()) await revokeKey(pool, keyId)
      issued.clear()
    },
  }
}
