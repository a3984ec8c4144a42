import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { kill } from '../support/processes.js'
import { sampleOf } from '../support/sample.js'
import { analyst, newOrganisation } from '../support/system.js'
import type { UploadAnswer } from '../support/uploader.js'

const org = await newOrganisation('respond-async')
const soon = { prefer: 'respond-async' }
const shops = (count: number) => Array.from({ length: count }, () => sampleOf(shop, { is_deleted: false }))
const statusesOf = ({ batches }: UploadAnswer) => batches.map(({ status }) => status)
const lookUp = (address: string) => org.uploader.get<UploadAnswer>(address)
const decided = (address: string) =>
  eventually(async () => {
    const { body } = await lookUp(address)
    expect(statusesOf(body)).not.toContain(202)
    return body
  }, 60_000)
const shopsInViews = async (): Promise<number> => {
  const query = 'select count() as shops from weir.shops where org_id = {org:String}'
  return Number((await analyst.query<{ shops: string }>(query, { org: org.name }))[0]?.shops)
}

it('is answered at once, is pending while nobody decides, and is decided afterwards', async () => {
  const before = await shopsInViews()
  kill('integrity', 'SIGSTOP')
  const answer = await org.uploader.upload('shops', [...shops(1199), {}], soon).finally(async () => {
    // Looked up while integrity still stands.
  })
  const address = String(answer.headers.get('location'))
  try {
    expect(answer.status).toBe(202)
    expect(address).toBe(`/v1/requests/${answer.body.request_id}`)
    expect(answer.headers.get('preference-applied')).toBe('respond-async')
    expect(answer.body.batches).toMatchObject([1, 2, 3].map((batch) => ({ batch, data: { status: 'pending' } })))
    const found = await lookUp(address)
    expect([found.status, found.body]).toEqual([200, answer.body])
    const stranger = await newOrganisation('stranger')
    expect((await stranger.uploader.get(address)).status).toBe(404)
  } finally {
    kill('integrity', 'SIGCONT')
  }
  const later = await decided(address)
  expect(statusesOf(later)).toEqual([200, 200, 207])
  expect(later.batches.map(({ data }) => data.batch_id)).toEqual(answer.body.batches.map(({ data }) => data.batch_id))
  await eventually(async () => expect(await shopsInViews()).toBe(before + 1199))
})
