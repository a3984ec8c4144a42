import { expect, it } from 'vitest'
import { createKeyText, hashKey } from '#ledger/key-text.js'
import { countEndingKeys, insertKey, listEndingKeys } from '#ledger/keys.js'
import { countPending } from '#ledger/migrate.js'
import { createOrg } from '#ledger/organisations.js'
import { findLastVerification, noteVerification } from '#ledger/verify/verifications.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
const hour = 3_600_000

it('keeps what the last hundred verifications found', async () => {
  expect(await findLastVerification(pool)).toBeUndefined()
  await pool.query(
    `insert into operator.verifications (ran_at, since, until, differences, is_clean)
    select now() - n * interval '1 day', now(), now(), n, false from generate_series(1, 120) n`,
  )
  const found = { since: new Date(1_000), until: new Date(2_000), differences: 3, is_clean: false }
  await noteVerification(pool, found)
  expect(await findLastVerification(pool)).toEqual({ ...found, ran_at: expect.any(Date) })
  const { rows } = await pool.query('select differences from operator.verifications order by ran_at')
  expect(rows.map(({ differences }) => differences).at(0)).toBe(99)
  expect(rows).toHaveLength(100)
})

it('names keys that are in use and end soon, and no others', async () => {
  await createOrg(pool, 'acme')
  const key = async (lifetime: number | null, change = '') => {
    const { keyId, key: text } = createKeyText()
    await insertKey(pool, { keyId, hash: hashKey(text), org: 'acme', scopes: null, lifetime })
    await pool.query(`update auth.api_keys set last_used_at = now()${change} where key_id = $1`, [keyId])
    return keyId
  }
  const later = await key(3 * hour)
  const sooner = await key(hour)
  await key(null)
  await key(100 * hour)
  await key(hour, ', revoked_at = now()')
  await key(hour, ` - interval '31 days'`)
  expect((await listEndingKeys(pool, 24 * hour, 10)).map(({ key_id }) => key_id)).toEqual([sooner, later])
  expect(await listEndingKeys(pool, 24 * hour, 1)).toMatchObject([{ key_id: sooner, org: 'acme' }])
  expect(await countEndingKeys(pool, 24 * hour)).toBe(2)
})

it('counts the migrations that have not run', async () => {
  expect(await countPending(pool)).toBe(0)
  await pool.query(`delete from public.migrations_auth where name like '0007%'`)
  await pool.query('drop table public.migrations_query')
  expect(await countPending(pool)).toBe(2)
})
