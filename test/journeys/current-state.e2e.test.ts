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
