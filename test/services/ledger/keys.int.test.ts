import { randomBytes, randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { commandLine, listAudit, noteMend } from '#ledger/audit.js'
import { hashKey } from '#ledger/key-text.js'
import {
  endKey,
  findKey,
  findKeyByHash,
  insertKey,
  listKeys,
  lockKey,
  type NewKey,
  revokeKey,
  setKeyText,
  touchKeys,
} from '#ledger/keys.js'
import {
  addLimitHits,
  createOrg,
  describeOrgs,
  hasOrg,
  listOrgIds,
  listOrgs,
  pruneLimitHits,
  setOrgLimits,
} from '#ledger/organisations.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
beforeEach(async () => {
  await pool.query(`
    begin; set local weir.audit = 'delete'; truncate auth.api_keys, auth.organisations, auth.audit cascade; commit`)
  await createOrg(pool, 'acme')
})

const day = 86_400_000
const issue = async (over: Partial<NewKey> = {}): Promise<NewKey> => {
  const keyId = randomBytes(6).toString('hex')
  const key = { keyId, hash: hashKey(keyId), org: 'acme', scopes: null, lifetime: null, ...over }
  await insertKey(pool, key)
  return key
}
const isUsable = async ({ hash }: NewKey) => (await findKey(pool, hash)) !== undefined

it('finds a key by the hash of its text, with its scopes and the limits of its organisation', async () => {
  const key = await issue({ scopes: ['shops:write'], lifetime: day })
  await setOrgLimits(pool, 'acme', { records_per_second: 100 }, commandLine)
  const found = await findKey(pool, key.hash)
  expect(found).toMatchObject({ keyId: key.keyId, orgId: 'acme', scopes: ['shops:write'] })
  expect(found?.rates).toEqual({ requests: null, records: 100 })
  expect((found?.expiresIn ?? 0) / day).toBeCloseTo(1, 2)
  expect(await findKey(pool, hashKey('another text'))).toBeUndefined()
})

it('does not find a key that has expired or was revoked; the operator still does', async () => {
  const [expired, revoked] = [await issue({ lifetime: -1000 }), await issue()]
  const first = await revokeKey(pool, revoked.keyId, commandLine)
  expect(first).toMatchObject({ key_id: revoked.keyId, org: 'acme', already: false })
  const again = await revokeKey(pool, revoked.keyId, commandLine)
  expect(again).toEqual({ ...first, already: true })
  expect(await revokeKey(pool, 'unknown', commandLine)).toBeUndefined()
  for (const key of [expired, revoked]) {
    expect(await isUsable(key)).toBe(false)
    expect(await inTransaction(pool, (c) => findKeyByHash(c, key.hash))).toMatchObject({ key_id: key.keyId })
  }
})

it('ends a key after its grace, and never lets it live longer than before', async () => {
  const [endless, short] = [await issue(), await issue({ lifetime: 1000 })]
  const end = (key: NewKey, grace: number) =>
    inTransaction(pool, async (c) => {
      expect(await lockKey(c, key.keyId)).toMatchObject({ key_id: key.keyId })
      return endKey(c, key.keyId, grace, commandLine)
    })
  expect(((await end(endless, day)).getTime() - Date.now()) / day).toBeCloseTo(1, 2)
  expect((await end(short, day)).getTime()).toBeLessThan(Date.now() + 60_000)
  await end(endless, 0)
  expect(await isUsable(endless)).toBe(false)
})

it('gives a key another text, which ends the first, and leaves a key of another organisation alone', async () => {
  const key = await issue({ lifetime: day })
  const renewed = { ...key, hash: hashKey('a chosen text') }
  await inTransaction(pool, (c) => setKeyText(c, renewed))
  expect([await isUsable(key), await isUsable(renewed)]).toEqual([false, true])
  await createOrg(pool, 'other')
  await inTransaction(pool, (c) => setKeyText(c, { ...key, hash: hashKey('stolen'), org: 'other' }))
  expect(await isUsable(renewed)).toBe(true)
})

it('lists the keys of one organisation or of all, with their last use', async () => {
  await createOrg(pool, 'other')
  const [own, foreign] = [await issue(), await issue({ org: 'other' })]
  await touchKeys(pool, [own.keyId])
  expect((await listKeys(pool, { org: 'acme' })).map(({ key_id }) => key_id)).toEqual([own.keyId])
  expect(await listKeys(pool, { org: null })).toMatchObject([
    { key_id: own.keyId, org: 'acme', last_used_at: expect.any(Date) },
    { key_id: foreign.keyId, org: 'other', last_used_at: null },
  ])
})

it('makes an organisation once, counts its active keys, and sets only the limits that are given', async () => {
  expect(await createOrg(pool, 'acme')).toBe(false)
  expect([await hasOrg(pool, 'acme'), await hasOrg(pool, 'nobody')]).toEqual([true, false])
  await issue()
  await issue({ lifetime: -1000 })
  expect(await setOrgLimits(pool, 'acme', { requests_per_second: 5 }, commandLine)).toMatchObject({
    requests_per_second: 5,
  })
  const limits = { requests_per_second: 5, records_per_second: 0 }
  expect(await setOrgLimits(pool, 'acme', { records_per_second: 0 }, commandLine)).toEqual(limits)
  expect(await setOrgLimits(pool, 'nobody', { records_per_second: 0 }, commandLine)).toBeUndefined()
  expect(await listOrgs(pool)).toMatchObject([{ org: 'acme', active_keys: 1, ...limits }])
})

it('lists organisations and keys part by part, in one order, each of them once', async () => {
  for (const org of ['acme-2', 'acme-10', 'b', 'other']) {
    await createOrg(pool, org)
    for (let n = 0; n < 3; n++) await issue({ org })
  }
  // Those that were issued together have the same time.
  await pool.query(`update auth.api_keys set created_at = now() where org_id <> 'b'`)
  const inParts = async <One>(list: (after: string | undefined) => Promise<One[]>, idOf: (one: One) => string) => {
    const all: One[] = []
    for (let part = await list(undefined); part.length > 0; part = await list(idOf(all.at(-1) as One)))
      all.push(...part)
    return all
  }
  const orgs = await listOrgs(pool)
  expect(orgs).toHaveLength(5)
  expect(
    await inParts(
      (after) => listOrgs(pool, { after, most: 2 }),
      ({ org }) => org,
    ),
  ).toEqual(orgs)
  expect(orgs.map(({ active_keys }) => active_keys).sort()).toEqual([0, 3, 3, 3, 3])
  const keys = await listKeys(pool, { org: null })
  expect(keys).toHaveLength(12)
  expect(
    await inParts(
      (after) => listKeys(pool, { org: null }, { after, most: 2 }),
      (key) => key.key_id,
    ),
  ).toEqual(keys)
  const own = await inParts(
    (after) => listKeys(pool, { org: 'b' }, { after, most: 2 }),
    (key) => key.key_id,
  )
  expect(own).toEqual(await listKeys(pool, { org: 'b' }))

  const begun = await listOrgs(pool, { prefix: 'acme' })
  // The organisation of exactly this id is the first of those that begin so.
  expect(begun.map(({ org }) => org)).toEqual(['acme', 'acme-10', 'acme-2'])
  expect(await listOrgs(pool, { prefix: 'nobody' })).toEqual([])
})

it('notes a mend once, however often its request is sent again, and a thousand in a day', async () => {
  const ids = [randomUUID(), randomUUID()]
  const mend = { org: 'acme', keyId: 'k', requestId: randomUUID(), type: 'shops', ids }
  for (const requestId of [mend.requestId, randomUUID(), mend.requestId]) await noteMend(pool, { ...mend, requestId })
  expect(await listAudit(pool, 'acme', { most: 9 })).toMatchObject([
    { action: 'records_mended', subject: 'shops', by: { actor: 'k', name: null }, details: { records: 2, ids } },
    { requestId: mend.requestId },
  ])
  await pool.query(
    `insert into auth.audit (org_id, actor, action, subject, request_id)
    select 'acme', 'k', 'records_mended', 'shops', gen_random_uuid() from generate_series(1, 998)`,
  )
  await noteMend(pool, { ...mend, requestId: randomUUID() })
  expect((await listAudit(pool, 'acme', { most: 2000 })).length).toBe(1000)
})

it('adds up how often limits were met, by day and by all edges', async () => {
  const hits = [
    { org: 'acme', hits: 2 },
    { org: 'other', hits: 5 },
  ]
  await Promise.all([addLimitHits(pool, hits), addLimitHits(pool, hits.toReversed()), addLimitHits(pool, hits)])
  await pool.query(`insert into auth.limit_hits values ('acme', '2020-01-01', 7)`)
  const since = async (from: Date) => (await describeOrgs(pool, ['acme', 'nobody'], from)).map(({ limited }) => limited)
  const old = new Date(Date.UTC(2020, 0, 1))
  expect([await since(new Date(Date.now() - day)), await since(old)]).toEqual([[6], [13]])
  expect(await pruneLimitHits(pool, new Date(Date.UTC(2021, 0, 1)), 10)).toBe(1)
  expect(await listOrgIds(pool, 'ac')).toEqual(['acme'])
})

it('reads no more rows for a page of many organisations than of a few', async () => {
  const rowsRead = async () => {
    const seen: number[] = []
    const explained = {
      query: async (text: string, values: unknown[]) => {
        const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values)
        seen.push(rowsIn(rows[0]['QUERY PLAN'][0].Plan))
        return { rows: [] }
      },
    } as unknown as typeof pool
    await listOrgs(explained, { after: 'many-3', most: 10 })
    await listOrgs(explained, { prefix: 'many-7', most: 1 })
    const last = (await listKeys(pool, { org: 'many-5' }))[0]?.key_id
    await listKeys(explained, { org: null }, { after: last, most: 10 })
    return seen
  }
  const fill = async (many: number) => {
    await pool.query(
      `insert into auth.organisations (org_id) select 'many-' || n from generate_series(1, $1::int) n on conflict do nothing`,
      [many],
    )
    await pool.query(
      `insert into auth.api_keys (key_id, org_id, key_hash) select 'k' || n, 'many-' || n, ('k' || n)::bytea
      from generate_series(1, $1::int) n on conflict do nothing`,
      [many],
    )
    await pool.query('analyze auth.organisations, auth.api_keys')
  }
  await fill(200)
  const withFew = await rowsRead()
  await fill(20_000)
  const withMany = await rowsRead()
  for (const [at, rows] of withMany.entries()) expect(rows).toBeLessThanOrEqual(Math.max(100, withFew[at] ?? 0))
})

type Plan = { 'Actual Rows': number; 'Actual Loops': number; 'Rows Removed by Filter'?: number; Plans?: Plan[] }
const rowsIn = (plan: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, one) => sum + rowsIn(one), 0)
