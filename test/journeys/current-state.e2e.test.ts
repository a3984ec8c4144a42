import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { branch } from '#schemas/records/branch.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { analyst, newOrganisation } from '../support/system/system.js'

const org = await newOrganisation('current-state')
const nameOf = (id: unknown) =>
  analyst.query<{ name: string }>('select name from weir.shops where org_id = {org:String} and shop_id = {id:UUID}', {
    org: org.name,
    id,
  })

it('shows the last write of an id, also within one request and across its batches', async () => {
  const record = sampleOf(shop, { is_deleted: false })
  const versions = Array.from({ length: 1100 }, (_, i) => ({ ...record, name: `name ${i}` }))
  expect((await org.uploader.upload('shops', versions)).status).toBe(200)
  await eventually(async () => expect(await nameOf(record.shop_id)).toEqual([{ name: 'name 1099' }]))

  await org.uploader.upload('shops', [{ ...record, name: 'changed' }])
  await eventually(async () => expect(await nameOf(record.shop_id)).toEqual([{ name: 'changed' }]))
})

it('takes a deleted record out of the view, lets it satisfy references, and brings it back', async () => {
  const record = sampleOf(shop, { is_deleted: false })
  await org.uploader.upload('shops', [record])
  await eventually(async () => expect(await nameOf(record.shop_id)).toHaveLength(1))

  await org.uploader.upload('shops', [{ ...record, is_deleted: true }])
  await eventually(async () => expect(await nameOf(record.shop_id)).toHaveLength(0))
  expect((await org.uploader.upload('branches', [sampleOf(branch, { shop_id: record.shop_id })])).status).toBe(200)

  await org.uploader.upload('shops', [{ ...record, name: 'back' }])
  await eventually(async () => expect(await nameOf(record.shop_id)).toEqual([{ name: 'back' }]))
})

it('shows the same upload sent twice once', async () => {
  const records = Array.from({ length: 50 }, () => sampleOf(shop, { is_deleted: false, name: 'sent twice' }))
  await org.uploader.upload('shops', records)
  await org.uploader.upload('shops', records)
  const count = () =>
    analyst.query<{ rows: number; ids: number }>(
      `select toUInt32(count()) as rows, toUInt32(uniqExact(shop_id)) as ids from weir.shops
       where org_id = {org:String} and name = 'sent twice'`,
      { org: org.name },
    )
  await eventually(async () => expect(await count()).toEqual([{ rows: 50, ids: 50 }]))
})

it('keeps every version once: what changed, how a record came to be, and what was true at an earlier moment', async () => {
  const record = sampleOf(shop, { is_deleted: false })
  type Version = { name: string; version: string; valid_from: string; valid_to: string | null; is_deleted: boolean }
  const history = () =>
    analyst.query<Version>(
      `select name, version, valid_from, valid_to, is_deleted from weir.shops_history
       where org_id = {org:String} and shop_id = {id:UUID} order by version`,
      { org: org.name, id: record.shop_id },
    )
  const writes = [{ name: 'one' }, { name: 'two' }, { name: 'two', is_deleted: true }, { name: 'three' }]
  for (const [index, write] of writes.entries()) {
    const key = randomUUID()
    // The second try has no effect: the key is known.
    for (const _ of [1, 2])
      expect((await org.uploader.upload('shops', [{ ...record, ...write }], { 'Idempotency-Key': key })).status).toBe(
        200,
      )
    await eventually(async () => expect(await history()).toHaveLength(index + 1))
  }
  await analyst.command('optimize table weir.shops_log final')
  const versions = await history()
  expect(versions.map(({ name, is_deleted }) => ({ name, is_deleted }))).toEqual(
    writes.map((write) => ({ is_deleted: false, ...write })),
  )
  expect(versions.map(({ valid_to }) => valid_to)).toEqual([
    ...versions.slice(1).map(({ valid_from }) => valid_from),
    null,
  ])

  const namesAt = async (at: string): Promise<string[]> => {
    const query = `select name from weir.shops_as_of(at = '${at}') where org_id = {org:String} and shop_id = {id:UUID}`
    return (await analyst.query<{ name: string }>(query, { org: org.name, id: record.shop_id })).map(({ name }) => name)
  }
  const moments = versions.map(({ valid_from }) => valid_from)
  expect(await Promise.all(moments.map(namesAt))).toEqual([['one'], ['two'], [], ['three']])
  expect(await namesAt('2000-01-31')).toEqual([])

  const [current] = await analyst.query<{ version: string; accepted_at: string }>(
    'select version, accepted_at from weir.shops where shop_id = {id:UUID}',
    { id: record.shop_id },
  )
  expect(current).toEqual({ version: versions.at(-1)?.version, accepted_at: moments.at(-1) })
})
