import { expect, it } from 'vitest'
import { branch } from '#schemas/records/branch.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { analyst, newOrganisation } from '../support/system/system.js'

const one = await newOrganisation('one')
const other = await newOrganisation('other')

it('keeps what organisations refer to apart', async () => {
  const theirs = sampleOf(shop)
  expect((await one.uploader.upload('shops', [theirs])).status).toBe(200)
  const record = sampleOf(branch, { shop_id: theirs.shop_id })
  expect((await one.uploader.upload('branches', [record])).status).toBe(200)

  const { status, body } = await other.uploader.upload('branches', [record])
  expect(status).toBe(400)
  expect(body.batches[0]?.data.errors).toMatchObject([{ problems: [{ field: 'shop_id', code: 'unknown_reference' }] }])

  const given = sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id: theirs.shop_id })
  expect((await one.uploader.interact(given)).status).toBe(201)
  expect((await other.uploader.interact(given)).status).toBe(400)
})

it('lets two organisations use the same id for records of their own', async () => {
  const record = sampleOf(shop, { is_deleted: false })
  await one.uploader.upload('shops', [{ ...record, name: 'ours' }])
  await other.uploader.upload('shops', [{ ...record, name: 'theirs' }])
  await eventually(async () => {
    const rows = await analyst.query('select org_id, name from weir.shops where shop_id = {id:UUID} order by name', {
      id: record.shop_id,
    })
    expect(rows).toEqual([
      { org_id: one.name, name: 'ours' },
      { org_id: other.name, name: 'theirs' },
    ])
  })
})

it('lets an organisation read its own interactions only', async () => {
  const theirs = sampleOf(shop)
  await one.uploader.upload('shops', [theirs])
  const given = sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id: theirs.shop_id })
  const { body } = await one.uploader.interact<{ interaction_id: string }>(given)
  const path = `/user-interactions?item_id=${theirs.shop_id}`
  await eventually(async () => {
    const mine = await one.uploader.get<{ interactions: { interaction_id: string }[] }>(path)
    expect(mine.body.interactions.map(({ interaction_id }) => interaction_id)).toEqual([body.interaction_id])
  })
  expect((await other.uploader.get(path)).body).toEqual({ interactions: [], next_cursor: null })
})
