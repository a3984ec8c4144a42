import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { createDecide, type World } from '#schemas/decide.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'

const dry = '/v1/data/offers?dry_run=true'
const shopId = String(sampleOf(shop).shop_id)
const offers = (count: number, shop_id = shopId) => Array.from({ length: count }, () => sampleOf(offer, { shop_id }))
/** What integrity would decide by. */
const world: World = {
  isKnown: ({ id }) => id === shopId,
  takenBefore: () => undefined,
  bodyOf: () => undefined,
  waiting: () => undefined,
  roomToWait: { records: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
  sizeOf: () => 0,
}

describe('a dry run', () => {
  it('answers as the upload would, and submits nothing', async () => {
    const { send, submit, store, known, metrics } = createEdge()
    known.add(`acme/shops/${shopId}`)
    submit.outcome = (batch) => ({ verdict: createDecide(offer)(batch, world, 0) })
    const records: unknown[] = offers(600)
    records[3] = { offer_id: 'x' }
    records[550] = sampleOf(offer, { shop_id: '00000000-0000-4000-8000-000000000000' })

    const tried = await send('POST', dry, { records })
    expect([tried.status, tried.headers['weir-dry-run']]).toEqual([207, 'true'])
    expect(submit.submitted).toEqual([])
    expect(store.requests.size).toBe(0)
    expect((await send('GET', `/v1/requests/${tried.body.request_id}`)).status).toBe(404)
    const counted = await metrics.text()
    expect(counted).toContain('weir_edge_records_total{type="offers",outcome="dry_run"} 600')
    expect(counted).not.toMatch(/outcome="(accepted|refused)"/)

    const real = await send('POST', '/v1/data/offers?dry_run=false', { records })
    expect([real.status, real.headers['weir-dry-run']]).toEqual([207, undefined])
    expect(withoutIds(tried.body)).toEqual(withoutIds(real.body))
    expect(tried.body.batches[1].data.errors).toMatchObject([
      { index: 550, problems: [{ field: 'shop_id', code: 'unknown_reference' }] },
    ])
    expect(tried.body.batches.map(({ data }: Batch) => data.batch_id)).toEqual([expect.any(String), expect.any(String)])
  })

  it('is 200 when all is right, and 400 when nothing is; references are the own organisation', async () => {
    const { send, known } = createEdge()
    known.add(`acme/shops/${shopId}`)
    expect((await send('POST', dry, { records: offers(2) })).status).toBe(200)
    const foreign = await send('POST', dry, { records: offers(1) }, { authorization: 'Bearer other-key' })
    expect([foreign.status, foreign.body.batches[0].status]).toEqual([400, 400])
  })

  it('is there for every type', async () => {
    const { send, submit } = createEdge()
    for (const type of catalogue.uploads.values()) {
      const { status, body } = await send('POST', `/v1/data/${type.type}?dry_run=true`, { records: [sampleOf(type)] })
      const refersTo = Object.values(type.fields).filter(({ kind }) => kind === 'reference').length
      expect(status, type.type).toBe(refersTo === 0 ? 200 : 400)
      expect(body.batches[0].data.errors?.[0].problems ?? [], type.type).toHaveLength(refersTo)
    }
    expect(submit.submitted).toEqual([])
  })

  it('uses up no Idempotency-Key, and tells what a used one would be answered', async () => {
    const { send, submit, store } = createEdge()
    const key = { 'idempotency-key': 'once' }
    const shops = '/v1/data/shops'
    const records = [sampleOf(shop), {}]
    await send('POST', `${shops}?dry_run=true`, { records: [sampleOf(shop)] }, key)
    const real = await send('POST', shops, { records }, key)
    expect(real.status).toBe(207)
    const [published] = submit.submitted
    if (!published) throw new Error('nothing was submitted')
    store.verdicts.push(verdictOn('shops', published.batch))

    const other = await send('POST', `${shops}?dry_run=true`, { records: [sampleOf(shop)] }, key)
    expect([other.status, other.headers['weir-dry-run']]).toEqual([409, 'true'])
    const same = await send('POST', `${shops}?dry_run=true`, { records }, key)
    expect([same.status, same.body]).toEqual([207, real.body])
    expect(submit.submitted).toHaveLength(1)
  })

  it('is not asynchronous, whatever is preferred, and needs Postgres', async () => {
    const { send, store } = createEdge()
    const shops = '/v1/data/shops?dry_run=true'
    const tried = await send('POST', shops, { records: [sampleOf(shop)] }, { prefer: 'respond-async' })
    expect([tried.status, tried.headers.location]).toEqual([200, undefined])
    store.isAway = true
    const { status, headers, body } = await send('POST', shops, { records: [sampleOf(shop)] })
    expect([status, headers['retry-after'], headers['weir-dry-run']]).toEqual([503, '5', 'true'])
    expect(body.message).toMatch(/retrying is safe/)
  })

  it('needs the scope of the upload', async () => {
    const { send } = createEdge()
    const shopsOnly = { authorization: 'Bearer shops-key' }
    expect((await send('POST', dry, { records: offers(1) }, shopsOnly)).status).toBe(403)
  })
})

describe('a query string', () => {
  it('that is not understood is refused, and says what was meant', async () => {
    const { send, submit } = createEdge()
    for (const [query, told] of [
      ['dryrun=true', 'there is no query parameter "dryrun" here; did you mean dry_run?'],
      ['Dry-Run=true', 'there is no query parameter "Dry-Run" here; did you mean dry_run?'],
      [
        'verbose=1&dry_run=true',
        'there is no query parameter "verbose" here; known are dry_run, if_version, missing_references, wait_for',
      ],
      ['dry_run', 'dry_run must be true or false'],
      ['dry_run=', 'dry_run must be true or false'],
      ['dry_run=TRUE', 'dry_run must be true or false'],
      ['dry_run=1', 'dry_run must be true or false'],
      ['dry_run=true&dry_run=true', 'dry_run may be given once only'],
      [
        '__proto__=true',
        'there is no query parameter "__proto__" here; known are dry_run, if_version, missing_references, wait_for',
      ],
      [
        `${'x'.repeat(90)}=1`,
        `there is no query parameter "${'x'.repeat(64)}…" here; known are dry_run, if_version, missing_references, wait_for`,
      ],
    ]) {
      const { status, body } = await send('POST', `/v1/data/shops?${query}`, { records: [sampleOf(shop)] })
      expect([status, body.message], query).toEqual([400, told])
    }
    expect(submit.submitted).toEqual([])
  })

  it('is nothing for an interaction', async () => {
    const { send, submit } = createEdge()
    for (const [query, told] of [
      ['dry_run=true', 'dry_run is for uploads'],
      ['dryrun=false', 'dry_run is for uploads'],
      ['limit=5', 'there is no query parameter "limit" here'],
    ]) {
      const { status, body } = await send('POST', `/user-interactions?${query}`, {})
      expect([status, body.message], query).toEqual([400, expect.stringContaining(String(told))])
    }
    expect(submit.submitted).toEqual([])
  })
})

type Batch = { data: { batch_id: string } }
/** Only the request's and its batches' ids may differ. */
const withoutIds = (body: { request_id: string; batches: Batch[] }): string =>
  [body.request_id, ...body.batches.map(({ data }) => data.batch_id)].reduce(
    (text, id, i) => text.replaceAll(id, `id ${i}`),
    JSON.stringify(body),
  )
