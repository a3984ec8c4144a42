import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createCatalogue, catalogue as published, uploads } from '#schemas/catalogue.js'
import { text, uuid } from '#schemas/field.js'
import { lifecycle, record } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'

const shops = (count: number): unknown[] => Array.from({ length: count }, () => sampleOf(shop))
const missingShop = { field: 'shop_id', code: 'unknown_reference' as const, message: 'shop_id x is not a known record' }

describe('an upload', () => {
  it('is answered in the shape of the spec', async () => {
    const { send, submit } = createEdge()
    const { status, body, headers } = await send('POST', '/v1/data/shops', { records: shops(2) })
    expect(status).toBe(200)
    expect(body).toEqual({
      request_id: headers['x-request-id'],
      type: 'shops',
      batches: [
        {
          batch: 1,
          status: 200,
          data: {
            status: 'success',
            type: 'shops',
            message: '2 records accepted',
            request_id: headers['x-request-id'],
            batch_id: submit.submitted[0]?.batch.batch_id,
            error: null,
          },
        },
      ],
    })
  })

  it('is cut into batches, in order, and the event carries what was refused', async () => {
    const { send, submit } = createEdge()
    const records = shops(1200)
    records[700] = { shop_id: 'x' }
    const { status, body } = await send('POST', '/v1/data/shops', { records })
    expect(status).toBe(207)
    expect(body.batches.map((batch: { status: number }) => batch.status)).toEqual([200, 207, 200])
    expect(body.batches[1].data).toMatchObject({
      status: 'partial',
      error:
        '1 of 500 records refused; the first is records[700]: shop_id must be a UUID, like 3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b',
      errors: [
        {
          index: 700,
          id: 'x',
          problems: [{ field: 'shop_id', code: 'bad_format' }, { field: 'name' }, { field: 'region' }],
        },
      ],
    })
    expect(
      submit.submitted.map(({ batch }) => [batch.batch, batch.batches, batch.first_index, batch.records.length]),
    ).toEqual([
      [1, 3, 0, 500],
      [2, 3, 500, 499],
      [3, 3, 1000, 200],
    ])
    expect(submit.submitted[1]?.batch).toMatchObject({
      org_id: 'acme',
      refusals: [{ index: 200, id: 'x', record: '{"shop_id":"x"}' }],
    })
  })

  it('tells what integrity refused as what the edge refused', async () => {
    const { send, submit } = createEdge()
    submit.problemsOf = () => [missingShop]
    const { status, body } = await send('POST', '/v1/data/shops', { records: shops(1) })
    expect(status).toBe(400)
    expect(body.batches[0].data).toMatchObject({
      status: 'error',
      message: '0 of 1 record accepted',
      errors: [{ index: 0, problems: [missingShop] }],
    })
  })

  it('whose outcome is unknown is a 500 that says how to learn it', async () => {
    const { send, submit, metrics } = createEdge()
    submit.outcome = { unknown: 'no verdict yet' }
    const { status, body } = await send('POST', '/v1/data/shops', { records: shops(3) })
    expect(status).toBe(500)
    expect(body.batches[0].data.error).toBe(
      `outcome unknown; retrying is safe; GET /v1/requests/${body.request_id} tells`,
    )
    expect(await metrics.text()).toContain('weir_edge_records_total{type="shops",outcome="unknown"} 3')
  })

  it('may come gzipped, and with parameters in its content type', async () => {
    const { send } = createEdge()
    const zipped = gzipSync(JSON.stringify({ records: shops(1) }))
    expect((await send('POST', '/v1/data/shops', zipped, { 'content-encoding': 'GZIP' })).status).toBe(200)
    const type = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await send('POST', '/v1/data/shops', { records: shops(1) }, type)).status).toBe(200)
  })

  it('has an address for every type of the catalogue it is given, and for no other', async () => {
    const voucher = record({
      type: 'gift-vouchers',
      id: 'voucher_id',
      about: '',
      fields: { voucher_id: uuid(), code: text(), ...lifecycle },
    })
    const { send } = createEdge({ catalogue: createCatalogue([...uploads, voucher], interaction) })
    for (const type of [...published.all.values(), voucher]) {
      expect((await send('POST', `/v1/data/${type.type}`, { records: [sampleOf(type)] })).status, type.type).toBe(200)
    }
    expect((await send('POST', '/v1/data/vouchers', { records: [{}] })).status).toBe(404)
  })
})

describe('an Idempotency-Key', () => {
  const key = { 'idempotency-key': 'once' }

  it('gives the same ids again, and the stored answer without publishing', async () => {
    const { send, submit, store } = createEdge()
    const sent = { records: [...shops(2), {}] }
    const first = await send('POST', '/v1/data/shops', sent, key)
    const [published] = submit.submitted
    if (!published) throw new Error('nothing was submitted')
    store.verdicts.push(verdictOf(published))
    const again = await send('POST', '/v1/data/shops', sent, key)
    expect(again.body).toEqual(first.body)
    expect(again.status).toBe(207)
    expect(submit.submitted).toHaveLength(1)
    const other = await send('POST', '/v1/data/shops', sent, { ...key, authorization: 'Bearer other-key' })
    expect(other.body.request_id).not.toBe(first.body.request_id)
  })

  it('with a body of another length is a conflict, when integrity says so', async () => {
    const { send, submit } = createEdge()
    submit.problemsOf = () => [{ field: null, code: 'idempotency_conflict', message: 'used with another body' }]
    expect((await send('POST', '/v1/data/shops', { records: shops(2) }, key)).status).toBe(409)
  })

  it('with another body is a conflict, before publishing and after', async () => {
    const { send, submit, store } = createEdge()
    await send('POST', '/v1/data/shops', { records: shops(1) }, key)
    const [published] = submit.submitted
    if (!published) throw new Error('nothing was submitted')
    const verdict = verdictOf(published)
    submit.outcome = { verdict }
    expect((await send('POST', '/v1/data/shops', { records: shops(1) }, key)).status).toBe(409)
    store.verdicts.push(verdict)
    const { status, body } = await send('POST', '/v1/data/shops', { records: shops(1) }, key)
    expect(status).toBe(409)
    expect(body).toMatchObject({ error: 'Conflict', message: expect.stringContaining('another body') })
    expect(submit.submitted).toHaveLength(2)
  })

  it('publishes only the batches that have no verdict yet', async () => {
    const { send, submit, store } = createEdge()
    const sent = { records: shops(600) }
    await send('POST', '/v1/data/shops', sent, key)
    const [published] = submit.submitted
    if (!published) throw new Error('nothing was submitted')
    store.verdicts.push(verdictOf(published))
    const { status, body } = await send('POST', '/v1/data/shops', sent, key)
    expect([status, body.batches.length]).toEqual([200, 2])
    expect(submit.submitted.map(({ batch }) => batch.batch)).toEqual([1, 2, 2])
  })

  it('must be visible ASCII, and needs Postgres', async () => {
    const { send, store } = createEdge()
    for (const bad of ['', 'a b', 'x'.repeat(256), 'é']) {
      const { status } = await send('POST', '/v1/data/shops', { records: shops(1) }, { 'idempotency-key': bad })
      expect(status, bad).toBe(400)
    }
    store.isAway = true
    const { status, headers } = await send('POST', '/v1/data/shops', { records: shops(1) }, key)
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect((await send('POST', '/v1/data/shops', { records: shops(1) })).status).toBe(200)
  })
})

describe('a request that is looked up', () => {
  it('is told as it was answered, to its own organisation', async () => {
    const { send, submit, store } = createEdge()
    const { body } = await send('POST', '/v1/data/shops', { records: [...shops(600), {}] })
    const [first, second] = submit.submitted
    if (!first || !second) throw new Error('nothing was submitted')
    const address = `/v1/requests/${body.request_id}`
    expect((await send('GET', address)).status).toBe(404)

    store.verdicts.push(verdictOf(second))
    const partly = await send('GET', address)
    expect(partly.status).toBe(200)
    expect(partly.body.batches).toMatchObject([
      { status: 202, data: { status: 'pending', batch_id: null } },
      { status: 207 },
    ])

    store.verdicts.push(verdictOf(first))
    expect((await send('GET', address)).body).toEqual(body)
    expect((await send('GET', address, undefined, { authorization: 'Bearer other-key' })).status).toBe(404)
    expect((await send('GET', '/v1/requests/nonsense')).status).toBe(404)
  })
})

type Submitted = ReturnType<typeof createEdge>['submit']['submitted'][number]
const verdictOf = ({ type, batch }: Submitted) => verdictOn(type, batch)
