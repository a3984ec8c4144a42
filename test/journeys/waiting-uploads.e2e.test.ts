// An uploader sends records in any order: what refers to something that is not there yet waits for it, and can be followed.
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { viewOf } from '#schemas/derive/names.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { createWeir } from '../../clients/typescript/src/index.js'
import type { Summary } from '../../clients/uploader/report/summary.js'
import { amountsFor } from '../../schemas/samples/records.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { ndjsonOf } from '../support/lined.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { analyst, newOrganisation, type Organisation } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// Lets records wait for a few seconds only: nobody wants to wait for a minute here.
const edge = await startEdge({ MIN_WAIT_SECONDS: '1', LOG_LEVEL: 'warn' })
const folder = await mkdtemp(join(tmpdir(), 'weir waiting '))
afterAll(async () => {
  await edge.stop()
  await rm(folder, { recursive: true, force: true })
})

type Told = { index: number; id: string; state?: string; for?: unknown[]; until?: string }
type Answered = {
  request_id: string
  batches: {
    status: number
    data: {
      message: string
      errors?: { index: number; problems: { code: string; message: string }[] }[]
      waiting?: Told[]
      waited?: Told[]
    }
  }[]
}
const waiting = '?missing_references=wait&wait_for=1h'

const open = async (stem: string) => {
  const org = await newOrganisation(stem)
  const { send, get } = createUploader(edge.url, org.key)
  const upload = (path: string, records: unknown[], headers = {}) =>
    send<Answered>('POST', `/v1/data/${path}`, JSON.stringify({ records }), headers)
  const look = async (id: string) => (await get<Answered>(`/v1/requests/${id}`)).body.batches
  const stillWaiting = async () => (await get<{ waiting: number }>('/v1/waiting')).body.waiting
  return { org, send, get, upload, look, stillWaiting }
}

/** Each id as often as it is in the history of the type. */
const versionsOf = async ({ name }: Organisation, type: typeof offer, ids: readonly unknown[]) => {
  const rows = await analyst.query<{ id: string; count: string }>(
    `select toString(${type.id}) as id, toString(count()) as count from weir.${viewOf(type.type)}_history
    where org_id = {org:String} group by id`,
    { org: name },
  )
  const counts = new Map(rows.map(({ id, count }) => [id, Number(count)]))
  return ids.map((id) => counts.get(String(id)) ?? 0)
}

describe('records that came too early', () => {
  it('wait, are told, and are accepted once when what they refer to comes', async () => {
    const { org, upload, look, get, stillWaiting } = await open('wait')
    const late = sampleOf(shop)
    const offers = Array.from({ length: 3 }, () => sampleOf(offer, { shop_id: late.shop_id }))
    const key = { 'idempotency-key': randomUUID() }
    const tried = await upload(`offers${waiting}&dry_run=true`, offers)
    const sent = await upload(`offers${waiting}`, offers, key)
    for (const { status, body } of [tried, sent]) {
      expect([status, body.batches[0]?.data.message]).toEqual([207, '0 of 3 records accepted, 3 wait'])
      expect(body.batches[0]?.data.waiting).toMatchObject(
        offers.map(({ offer_id }, index) => ({
          index,
          id: offer_id,
          for: [{ field: 'shop_id', type: 'shops', id: late.shop_id }],
        })),
      )
    }
    expect((await upload(`offers${waiting}`, offers, key)).body).toEqual(sent.body)
    expect(await look(sent.body.request_id)).toEqual(sent.body.batches)
    const missing = await get<{ missing: { id: string; waiting: number; sample: unknown[] }[]; waiting: number }>(
      '/v1/waiting',
    )
    expect(missing.body).toMatchObject({ waiting: 3, missing: [{ type: 'shops', id: late.shop_id, waiting: 3 }] })

    expect((await upload('shops', [late])).status).toBe(200)
    const batches = await eventually(async () => {
      const found = await look(sent.body.request_id)
      expect(found).toMatchObject([{ status: 200, data: { message: '3 records accepted' } }])
      return found
    })
    expect(batches[0]?.data.waited).toMatchObject(offers.map((_, index) => ({ index, state: 'accepted' })))
    expect((await upload(`offers${waiting}`, offers, key)).body.batches).toEqual(batches)
    expect(await stillWaiting()).toBe(0)
    const ids = offers.map(({ offer_id }) => offer_id)
    await eventually(async () => expect(await versionsOf(org, offer, ids)).toEqual([1, 1, 1]), 60_000)
  })

  it('make chains: an interaction waits for an offer that waits for a shop', async () => {
    const { send, get, upload, look } = await open('wait-chain')
    const late = sampleOf(shop)
    const early = sampleOf(offer, { shop_id: late.shop_id })
    const given = sampleOf(interaction, { item_type: 'OFFER', item_id: early.offer_id, student_id: null, source: null })
    const key = { 'idempotency-key': randomUUID() }
    const record = () =>
      send<{ interaction_id: string; waiting?: unknown }>(
        'POST',
        `/user-interactions${waiting}`,
        JSON.stringify(given),
        key,
      )
    const recorded = await record()
    expect([recorded.status, recorded.body.waiting]).toMatchObject([
      202,
      { for: [{ field: 'item_id', type: 'offers', id: early.offer_id }] },
    ])
    expect((await record()).status).toBe(202)
    const location = String(recorded.headers.get('location'))
    expect((await get<Answered>(location)).body.batches).toMatchObject([
      { status: 207, data: { waiting: [{ index: 0 }] } },
    ])
    const sent = await upload(`offers${waiting}`, [early])
    expect(sent.status).toBe(207)

    await upload('shops', [late])
    await eventually(async () => {
      expect((await look(sent.body.request_id))[0]?.status).toBe(200)
      expect((await get<Answered>(location)).body.batches[0]?.status).toBe(200)
    })
    expect([(await record()).status, (await record()).body.interaction_id]).toEqual([201, recorded.body.interaction_id])
    await eventually(async () => {
      const { body } = await get<{ interactions: { interaction_id: string }[] }>('/user-interactions')
      expect(body.interactions.map(({ interaction_id }) => interaction_id)).toEqual([recorded.body.interaction_id])
    })
  })

  it('are refused when their time is up, and say how long they waited', async () => {
    const { get, upload, look, stillWaiting } = await open('wait-vain')
    const sent = await upload('offers?missing_references=wait&wait_for=2s', [sampleOf(offer)])
    expect(sent.status).toBe(207)
    const [batch] = await eventually(async () => {
      const found = await look(sent.body.request_id)
      expect(found).toMatchObject([{ status: 400, data: { waited: [{ index: 0, state: 'refused' }] } }])
      return found
    })
    expect(batch?.data.errors?.[0]?.problems).toMatchObject([
      { code: 'unknown_reference', message: expect.stringContaining('waited 2 seconds') },
    ])
    expect(await stillWaiting()).toBe(0)
    await eventually(async () => {
      const { body } = await get<{ rejections: object[] }>(`/v1/rejections?request_id=${sent.body.request_id}`)
      expect(body.rejections).toMatchObject([{ index: 0, problems: [{ code: 'unknown_reference' }] }])
    })
  })

  it('are cancelled by their own organisation only, and replaced by newer ones', async () => {
    const [{ send, upload, look, stillWaiting }, stranger] = [await open('wait-cancel'), await open('wait-stranger')]
    const late = sampleOf(shop)
    const early = sampleOf(offer, { shop_id: late.shop_id, name: 'old' })
    const first = await upload(`offers${waiting}`, [early])
    const newer = await upload(`offers${waiting}`, [{ ...early, name: 'new' }])
    await eventually(async () =>
      expect(await look(first.body.request_id)).toMatchObject([{ data: { waited: [{ state: 'superseded' }] } }]),
    )
    const filter = JSON.stringify({ missing_type: 'shops', missing_id: late.shop_id })
    expect((await stranger.send('POST', '/v1/waiting/cancel', filter)).body).toEqual({
      cancelled: 0,
      left: 0,
      complete: true,
    })
    expect(await stillWaiting()).toBe(1)
    expect((await send('POST', '/v1/waiting/cancel', filter)).body).toEqual({ cancelled: 1, left: 0, complete: true })
    expect(await look(newer.body.request_id)).toMatchObject([
      { status: 207, data: { waited: [{ state: 'cancelled' }] } },
    ])
    expect((await upload('shops', [late])).status).toBe(200)
    expect(await stillWaiting()).toBe(0)
  })
})

it('imports children before their parents, and tells the present when it is sent again', async () => {
  const { org, upload, stillWaiting } = await open('wait-import')
  const parents = Array.from({ length: 20 }, () => sampleOf(shop))
  const children = Array.from({ length: 1200 }, (_, i) => sampleOf(offer, { shop_id: parents[i % 20]?.shop_id }))
  const send = async () => {
    const answer = await fetch(`${edge.url}/v1/imports/offers${waiting}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${org.key}`,
        'content-type': 'application/x-ndjson',
        'idempotency-key': 'children',
      },
      body: ndjsonOf(children),
    })
    const lines = (await answer.text()).trimEnd().split('\n')
    return JSON.parse(lines.at(-1) ?? '').summary
  }
  const all = { records: 1200, refused: 0, complete: true }
  expect(await send()).toMatchObject({
    ...all,
    accepted: 0,
    waiting: 1200,
    message: '0 of 1200 records accepted, 1200 wait',
  })
  expect((await upload('shops', parents)).status).toBe(200)
  await eventually(async () => expect(await stillWaiting()).toBe(0), 60_000)
  expect(await send()).toMatchObject({ ...all, accepted: 1200, waiting: 0, message: '1200 of 1200 records accepted' })
})

itDeep('uploads a folder in any order with one command, and the SDK sees nothing wait in the end', async () => {
  const { name, key } = await newOrganisation('wait-folder')
  const weir = (...words: string[]) =>
    execa(process.execPath, ['dist/clients/uploader/main.js', ...words], {
      env: { WEIR_URL: edge.url, WEIR_KEY: key },
      reject: false,
    })
  await weir('sample', '--customers', '100', '--seed', '11', '--broken', '0%', '--out', folder)
  // Before anything that they refer to.
  const early = await weir('upload', join(folder, 'transactions.csv'), '--wait', '1h', '--json')
  expect([early.exitCode, (JSON.parse(early.stdout) as Summary).accepted]).toEqual([0, 0])
  const done = await weir('upload', folder, '--wait', '1h', '--json')
  expect([done.exitCode, (JSON.parse(done.stdout) as Summary).refused]).toEqual([0, 0])

  const sdk = createWeir({ url: edge.url, key })
  await eventually(async () => {
    for await (const missing of sdk.waiting.list()) expect(missing).toBeUndefined()
  })
  const amounts = amountsFor(100)
  for (const type of catalogue.all.values())
    await eventually(async () => {
      const [found] = await analyst.query<{ count: string }>(
        `select toString(count()) as count from weir.${viewOf(type.type)} where org_id = {org:String}`,
        { org: name },
      )
      expect([type.type, Number(found?.count)]).toEqual([type.type, amounts[type.type]])
    })
})
