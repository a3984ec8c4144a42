import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { customer } from '#schemas/records/customer.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { studentFavourite } from '#schemas/records/student-favourite.js'
import { transaction } from '#schemas/records/transaction.js'
import { eventually } from '../support/eventually.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { newOrganisation, system } from '../support/system/system.js'

type Thing = { type: string; id: string; record: Record<string, unknown>; is_current?: boolean; values?: unknown }
type Exported = Record<'records' | 'refused' | 'waiting' | 'derived', Thing[]>

const required = { onlyRequired: true }

it('hands over all that is kept about a person: accepted, refused and waiting; to its organisation alone, and noted', async () => {
  const { name, uploader, key } = await newOrganisation('asked', 'all,keys:manage')
  const [ann, bob, annsUser] = [randomUUID(), randomUUID(), randomUUID()]
  const shopOf = sampleOf(shop)
  await uploader.upload('shops', [shopOf])
  const customerOf = (customer_id: string, user_id: string, more: object = {}) =>
    sampleOf(customer, { customer_id, user_id, ...more }, required)
  await uploader.upload('customers', [customerOf(ann, annsUser), customerOf(bob, randomUUID())])
  await uploader.upload('customers', [customerOf(ann, annsUser, { region: 'IE', birthdate: '2001-02-28' })])
  const purchaseOf = (student_id: string, shop_id: unknown = shopOf.shop_id) =>
    sampleOf(transaction, { shop_id, student_id, region: 'GB' }, required)
  const bought = purchaseOf(ann)
  await uploader.upload('transactions', [bought, purchaseOf(bob)])
  const favourite = sampleOf(studentFavourite, { customer_id: ann, shop_id: shopOf.shop_id }, required)
  await uploader.upload('student-favourites', [favourite])
  const touch = { item_type: 'SHOP', item_id: shopOf.shop_id }
  const touched = await uploader.interact<{ interaction_id: string }>(
    sampleOf(interaction, { ...touch, user_id: annsUser.toUpperCase() }, required),
  )
  expect(touched.status).toBe(201)
  const refused = { ...purchaseOf(ann), amount: -1 }
  await uploader.upload('transactions', [refused])
  const missing = randomUUID()
  const waiting = [purchaseOf(ann, missing), purchaseOf(bob, missing)]
  await uploader.upload('transactions?missing_references=wait', waiting)

  const found = await eventually(async () => {
    const { status, body } = await uploader.get<Exported>(`/v1/persons/${ann}/export`)
    expect([status, body.records?.length, body.refused?.length]).toEqual([200, 5, 1])
    return body
  })
  expect(found.records.map(({ type, id, is_current }) => [type, id, is_current]).toSorted()).toEqual(
    [
      ['customers', ann, false],
      ['customers', ann, true],
      ['interactions', touched.body.interaction_id, true],
      ['student-favourites', favourite.student_favourite_id, true],
      ['transactions', bought.transaction_id, true],
    ].toSorted(),
  )
  expect(found.records.find(({ type, is_current }) => type === 'customers' && is_current)?.record).toMatchObject({
    ...{ customer_id: ann, user_id: annsUser, region: 'IE', birthdate: '2001-02-28' },
  })
  expect(found.refused[0]?.record).toEqual(refused)
  expect(found.waiting).toMatchObject([
    { type: 'transactions', id: waiting[0]?.transaction_id, for: [{ type: 'shops', id: missing }] },
  ])
  expect(found.waiting[0]?.record).toEqual(waiting[0])
  expect(found.derived).toContainEqual({
    from: 'customers_overview',
    values: expect.objectContaining({ customer_id: ann, transactions: 1, region: 'IE' }),
  })
  expect(JSON.stringify(found)).not.toContain(bob)

  // By the user_id it is the same person.
  const byUser = await uploader.get<Exported>(`/v1/persons/${annsUser}/export`)
  expect(byUser.body.records).toEqual(found.records)
  expect(byUser.body.waiting).toEqual(found.waiting)

  const csv = await fetch(`${system.edgeUrl}/v1/persons/${ann}/export`, {
    headers: { authorization: `Bearer ${key}`, accept: 'text/csv' },
  })
  expect(await csv.text()).toContain(`record,customers,${ann},`)

  // Nobody else's organisation has this person, and a key for uploads may not ask.
  const stranger = await newOrganisation('asking')
  expect((await stranger.uploader.get(`/v1/persons/${ann}/export`)).status).toBe(404)
  const narrow = await newOrganisation('narrow', 'data:write,data:read')
  expect((await narrow.uploader.get(`/v1/persons/${ann}/export`)).status).toBe(403)

  const folder = await mkdtemp(join(tmpdir(), 'weir-persons-'))
  try {
    const out = join(folder, 'person.json')
    const words = ['persons', 'export', ann, '--org', name]
    expect(await runWeir([...words, '--out', out], system.env)).toMatchObject({ exitCode: 0, stdout: '' })
    const written = JSON.parse(await readFile(out, 'utf8')) as Exported
    expect([written.records, written.waiting]).toEqual([found.records, found.waiting])
    expect((await stat(out)).mode & 0o777).toBe(0o600)
    expect(await runWeir([...words, '--out', out], system.env)).toMatchObject({
      ...{ exitCode: 1, stderr: expect.stringContaining('is there already') },
    })
    const printed = await runWeir([...words, '--csv'], system.env)
    expect(printed.stdout.split('\n').slice(0, 2)).toEqual([
      ...['part,type,id,version,time,field,value', `person,,,,,id,${ann}`],
    ])
    expect(await runWeir(['persons', 'export', ann, '--org', stranger.name], system.env)).toMatchObject({
      ...{ exitCode: 1, stderr: expect.stringContaining('nothing of') },
    })
  } finally {
    await rm(folder, { recursive: true })
  }

  type Noted = { action: string; subject: string; by: { kind: string; key_id: string | null } }
  const { body } = await uploader.get<{ done: Noted[] }>('/v1/audit')
  const noted = body.done.filter(({ action }) => action === 'person_exported')
  const keyId = key.split('_')[1]
  // The newest first. The first export may have been asked for more than once, until all was there.
  expect(noted.slice(0, 5).map(({ subject, by }) => [subject, by.kind, by.key_id])).toEqual([
    [ann, 'command', null],
    [ann, 'command', null],
    [ann, 'key', keyId],
    [annsUser, 'key', keyId],
    [ann, 'key', keyId],
  ])
  expect(JSON.stringify(noted)).not.toContain('2001-02-28')
})
