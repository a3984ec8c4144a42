import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { kill } from '../support/system/processes.js'
import { analyst, newOrganisation } from '../support/system/system.js'
import { createUploader, type UploadAnswer } from '../support/system/uploader.js'

const org = await newOrganisation('respond-async')
const soon = { prefer: 'respond-async' }
const shops = (count: number) => Array.from({ length: count }, () => sampleOf(shop, { is_deleted: false }))
const statusesOf = ({ batches }: UploadAnswer) => batches.map(({ status }) => status)
const idsOf = ({ batches }: UploadAnswer) => batches.map(({ data }) => data.batch_id)
const lookUp = (requestId: string) => org.uploader.get<UploadAnswer>(`/v1/requests/${requestId}`)
const decided = (requestId: string) =>
  eventually(async () => {
    const { body } = await lookUp(requestId)
    expect(statusesOf(body)).not.toContain(202)
    return body
  })
const countShops = async (): Promise<number> => {
  const query = 'select count() as shops from weir.shops where org_id = {org:String}'
  return Number((await analyst.query<{ shops: string }>(query, { org: org.name }))[0]?.shops)
}
/** Integrity decides nothing meanwhile. */
const whileUndecided = async (work: () => Promise<void>): Promise<void> => {
  kill('integrity', 'SIGSTOP')
  await work().finally(() => kill('integrity', 'SIGCONT'))
}

it('is answered at once, is pending while nobody decides, and is decided afterwards', async () => {
  const before = await countShops()
  const stranger = await newOrganisation('stranger')
  let given: UploadAnswer | undefined
  await whileUndecided(async () => {
    const { status, headers, body } = await org.uploader.upload('shops', [...shops(1199), {}], soon)
    expect(status).toBe(202)
    expect(headers.get('location')).toBe(`/v1/requests/${body.request_id}`)
    expect(headers.get('preference-applied')).toBe('respond-async')
    expect(body.batches).toMatchObject([1, 2, 3].map((batch) => ({ batch, data: { status: 'pending' } })))
    const found = await lookUp(body.request_id)
    expect([found.status, found.body]).toEqual([200, body])
    expect((await stranger.uploader.get(`/v1/requests/${body.request_id}`)).status).toBe(404)
    given = body
  })
  if (!given) throw new Error('it was not answered')
  const later = await decided(given.request_id)
  expect(statusesOf(later)).toEqual([200, 200, 207])
  expect(idsOf(later)).toEqual(idsOf(given))
  await eventually(async () => expect(await countShops()).toBe(before + 1199))
})

it('with an Idempotency-Key is one request, however often it is sent', async () => {
  const before = await countShops()
  const keyed = { ...soon, 'idempotency-key': randomUUID() }
  const records = shops(3)
  let requestId = ''
  await whileUndecided(async () => {
    const first = await org.uploader.upload('shops', records, keyed)
    const second = await org.uploader.upload('shops', records, keyed)
    expect([first.status, second.status]).toEqual([202, 202])
    expect(second.body).toEqual(first.body)
    // The first one's body is not decided yet; its key is taken all the same.
    expect((await org.uploader.upload('shops', shops(4), keyed)).status).toBe(409)
    requestId = first.body.request_id
  })
  const later = await decided(requestId)
  const third = await org.uploader.upload('shops', records, keyed)
  expect([third.status, third.body]).toEqual([200, later])
  expect((await org.uploader.upload('shops', shops(1), keyed)).status).toBe(409)
  await eventually(async () => expect(await countShops()).toBe(before + 3))
})

it('with wait is answered with the outcome when that comes in time', async () => {
  const { status, body } = await org.uploader.upload('shops', shops(2), { prefer: 'respond-async, wait=60' })
  expect([status, statusesOf(body)]).toEqual([200, [200]])
})

itDeep('is not needed to look up a request that waits in vain', async () => {
  const edge = await startEdge({ VERDICT_TIMEOUT_MS: '1500' })
  try {
    await whileUndecided(async () => {
      const { status, headers, body } = await createUploader(edge.url, org.key).upload('shops', shops(600))
      expect([status, headers.get('retry-after')]).toEqual([500, '5'])
      await eventually(async () => expect(statusesOf((await lookUp(body.request_id)).body)).toEqual([202, 202]))
      expect(idsOf((await lookUp(body.request_id)).body)).toEqual(idsOf(body))
    })
  } finally {
    await edge.stop()
  }
})
