import type { Pool } from '#platform/postgres/postgres.js'

export const touchKeys = async (pool: Pool, keyIds: readonly string[]): Promise<void> => {
  await pool.query({
    name: 'touch-keys',
    text: `
      update auth.api_keys
      set last_used_at = now()
      where key_id = any ($1::text[])`,
    values: [keyIds],
  })
}
