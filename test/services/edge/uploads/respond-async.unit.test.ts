import { describe, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'

const shops = (count: number): unknown[] => Array.from({ length: count }, () => sampleOf(shop))
const soon = { prefer: 'respond-async' }
const undecided = { unknown: 'no verdict yet' } as const
const lost = { unknown: 'not published' } as const
type Batches = { status: number; data: { status: string; batch_id: string; error: string | null } }[]
const statusesOf = ({ batches }: { batches: Batches }) => batches.map(({ status }) => status)

describe('respond-async', () => {
  it('answers 202 with the address that tells the rest, which says pending until all is decided', async () => {
    const { send, submit, store } = createEdge()
    submit.outcome = undecided
    const { status, headers, body } = await send('POST', '/v1/data/shops', { records: shops(600) }, soon)
    expect(status).toBe(202)
    expect(headers).toMatchObject({
      location: `/v1/requests/${body.request_id}`,
      'preference-applied': 'respond-async',
    })
    expect(headers).not.toHaveProperty('retry-after')
    expect(body).toMatchObject({
      type: 'shops',
      batches: submit.submitted.map(({ batch }) => ({
        batch: batch.batch,
        status: 202,
        data: { status: 'pending', batch_id: batch.batch_id, error: null },
      })),
    })

    const address = String(headers.location)
    const found = await send('GET', address)
    expect([found.status, found.body]).toEqual([200, body])
    const foreign = await send('GET', address, undefined, { authorization: 'Bearer other-key' })
    const absent = await send('GET', '/v1/requests/00000000-0000-4000-8000-000000000000')
    expect([foreign.status, foreign.body.message]).toEqual([404, absent.body.message])

    const [first, second] = submit.submitted
    if (!first || !second) throw new Error('nothing was submitted')
    store.verdicts.push(verdictOn('shops', second.batch))
    expect(statusesOf((await send('GET', address)).body)).toEqual([202, 200])
    store.verdicts.push(verdictOn('shops', first.batch))
    expect(statusesOf((await send('GET', address)).body)).toEqual([200, 200])
  })

  it('notes the request before it publishes: without Postgres nothing is taken', async () => {
    const { send, submit, store, notes } = createEdge()
    store.isAway = true
    const { status, headers, body } = await send('POST', '/v1/data/shops', { records: shops(1) }, soon)
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(body.message).toMatch(/retrying is safe/)
    expect(submit.submitted).toEqual([])
    store.isAway = false
    await notes.tick()
    expect(store.requests.size).toBe(0)
  })

  it('tells which batches may not have been submitted, there and later', async () => {
    const { send, submit, store, notes, metrics } = createEdge()
    submit.outcome = ({ batch }) => (batch === 1 ? undecided : lost)
    const partly = await send('POST', '/v1/data/shops', { records: shops(600) }, soon)
    expect([partly.status, statusesOf(partly.body)]).toEqual([207, [202, 500]])
    expect(partly.headers).toMatchObject({ location: expect.any(String), 'retry-after': '5' })
    await notes.tick()
    expect(statusesOf((await send('GET', String(partly.headers.location))).body)).toEqual([202, 500])

    submit.outcome = lost
    const none = await send('POST', '/v1/data/shops', { records: shops(1) }, soon)
    expect([none.status, none.headers['retry-after'], none.headers.location]).toEqual([500, '5', undefined])
    await notes.tick()
    const later = await send('GET', `/v1/requests/${none.body.request_id}`)
    expect(later.body.batches).toMatchObject([
      { status: 500, data: { error: expect.stringMatching(/retrying is safe/) } },
    ])
    expect(store.requests.get(none.body.request_id)?.written).toBe(0)
    expect(await metrics.text()).toContain('weir_edge_records_total{type="shops",outcome="pending"} 500')
  })

  it('with wait is answered with what was decided by then', async () => {
    const { send, submit } = createEdge()
    const prefer = { prefer: 'respond-async, wait=3' }
    const decided = await send('POST', '/v1/data/shops', { records: shops(1) }, prefer)
    expect([decided.status, decided.headers.location]).toEqual([200, undefined])
    submit.outcome = ({ batch, ...rest }) =>
      batch === 1 ? { verdict: verdictOn('shops', { batch, ...rest }) } : undecided
    const partly = await send('POST', '/v1/data/shops', { records: shops(600) }, prefer)
    expect([partly.status, statusesOf(partly.body)]).toEqual([202, [200, 202]])
    expect(partly.headers['preference-applied']).toBe('respond-async, wait=3')
  })

  it('is nothing to an interaction', async () => {
    const { send } = createEdge()
    const given = { interaction_type: 'PAGE_VIEW', item_type: 'SHOP', item_id: sampleOf(shop).shop_id }
    const { status } = await send('POST', '/user-interactions', { ...given, event_timestamp: 1_717_151_415 }, soon)
    expect(status).toBe(201)
  })
})

describe('an Idempotency-Key with respond-async', () => {
  const keyed = { ...soon, 'idempotency-key': 'once' }

  it('is 202 again while undecided, and the stored answer afterwards', async () => {
    const { send, submit, store } = createEdge()
    submit.outcome = undecided
    const records = shops(2)
    const first = await send('POST', '/v1/data/shops', { records }, keyed)
    const second = await send('POST', '/v1/data/shops', { records }, keyed)
    expect([first.status, second.status, second.body]).toEqual([202, 202, first.body])
    const [published] = submit.submitted
    if (!published) throw new Error('nothing was submitted')
    store.verdicts.push(verdictOn('shops', published.batch))
    const third = await send('POST', '/v1/data/shops', { records }, keyed)
    expect([third.status, third.headers.location, statusesOf(third.body)]).toEqual([200, undefined, [200]])
    expect(submit.submitted).toHaveLength(2)
  })

  it('with another body is a conflict while the first one is undecided, also for those who wait', async () => {
    const { send, submit } = createEdge()
    submit.outcome = undecided
    await send('POST', '/v1/data/shops', { records: shops(1) }, keyed)
    for (const headers of [keyed, { 'idempotency-key': 'once' }]) {
      const { status } = await send('POST', '/v1/data/shops', { records: shops(2) }, headers)
      expect(status).toBe(409)
    }
    expect(submit.submitted).toHaveLength(1)
  })
})

describe('a request that waits', () => {
  it('is not noted when it is answered quickly', async () => {
    const { send, store, notes } = createEdge()
    await send('POST', '/v1/data/shops', { records: shops(1) })
    await notes.tick()
    expect(store.requests.size).toBe(0)
  })

  it('can be looked up once it was answered without a verdict', async () => {
    const { send, submit, notes } = createEdge()
    submit.outcome = undecided
    const { status, headers, body } = await send('POST', '/v1/data/shops', { records: shops(600) })
    expect([status, headers['retry-after']]).toEqual([500, '5'])
    expect(body.batches[0].data.error).toMatch(/retrying is safe/)
    await notes.tick()
    expect(statusesOf((await send('GET', `/v1/requests/${body.request_id}`)).body)).toEqual([202, 202])
  })
})
