import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { branch } from '#schemas/records/branch.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { untilQuiet } from '../support/system/groups.js'
import { kill } from '../support/system/processes.js'
import { analyst, newOrganisation, type Organisation, system } from '../support/system/system.js'
import { createUploader, type Uploader } from '../support/system/uploader.js'

type Listed = {
  rejection_id: string
  type: string
  id: string | null
  index: number
  request_id: string
  batch_id: string
  record: Record<string, unknown>
  truncated: boolean
  problems: { field: string | null; code: string }[]
  state: string
  current_version: number | null
  retry?: { outcome: string; request_id: string | null; retry_request_id: string | null }
}
type Page = { rejections: Listed[]; next_cursor: string | null }
type Order = {
  request_id: string
  status: string
  matched: number
  submitted: number
  skipped: Record<string, number>
  waiting: number
  accepted: number
  refused: number
  given_up: number
  requests: { request_id: string; type: string }[]
}
type Groups = {
  groups: { type: string; code: string; field: string | null; count: number; sample: { id: string } }[]
  states: { open: number; retried: number; resolved: number }
}
type Quality = {
  days: {
    type: string
    day: string
    received: number
    accepted: number
    refused: number
    top_codes: { code: string; count: number }[]
    last_accepted_at: string | null
  }[]
}

const offerOf = (shopId: unknown, over = {}) => sampleOf(offer, { shop_id: shopId, is_deleted: false, ...over })

/** What an organisation has, once all of it is in ClickHouse: the sink is a moment behind. */
const listed = (org: Organisation, total: number, query = 'limit=1000') =>
  eventually(async () => {
    const { status, body } = await org.uploader.get<Page>(`/v1/rejections?${query}`)
    expect([status, body.rejections?.length]).toEqual([200, total])
    return body.rejections
  })
/** An answer before it is parsed. */
const textOf = async (org: Organisation, path: string): Promise<string> =>
  (await fetch(`${system.edgeUrl}${path}`, { headers: { authorization: `Bearer ${org.key}` } })).text()
const order = (uploader: Uploader, body: unknown, headers: Record<string, string> = {}) =>
  uploader.send<Order>('POST', '/v1/rejections/retry', JSON.stringify(body), headers)
const finished = (uploader: Uploader, id: string) =>
  eventually(async () => {
    const { body } = await uploader.get<Order>(`/v1/rejections/retries/${id}`)
    expect(body.status).toBe('done')
    return body
  })
const versionsOf = (org: Organisation) =>
  analyst.query<{ id: string; versions: number }>(
    `select toString(offer_id) as id, toUInt32(uniqExact(version)) as versions
    from weir.offers_log where org_id = {org:String} group by id order by id`,
    { org: org.name },
  )

/** An organisation with refused offers of a shop that was uploaded too late. */
const withRefusedOffers = async (stem: string, count: number) => {
  const org = await newOrganisation(stem)
  const later = sampleOf(shop, { is_deleted: false })
  const offers = Array.from({ length: count }, () => offerOf(later.shop_id))
  expect((await org.uploader.upload('offers', offers)).status).toBe(400)
  await listed(org, count)
  expect((await org.uploader.upload('shops', [later])).status).toBe(200)
  return { org, offers, shopId: later.shop_id }
}

it('shows an organisation its refused records, and submits them again once their reason is gone', async () => {
  const org = await newOrganisation('own-rejections')
  const late = sampleOf(shop, { is_deleted: false })
  const offers = [offerOf(late.shop_id), offerOf(late.shop_id), offerOf(late.shop_id, { value: -1 })]
  const { body: upload } = await org.uploader.upload('offers', offers)
  const look = sampleOf(interaction, { item_type: 'SHOP', item_id: late.shop_id, student_id: null })
  expect((await org.uploader.interact(look)).status).toBe(400)

  // Refused by the edge for their form and by integrity for their references, they stand side by side.
  const first = await listed(org, 4)
  expect(first.map(({ type, state }) => `${type} ${state}`).sort()).toEqual([
    'interactions open',
    'offers open',
    'offers open',
    'offers open',
  ])
  const negative = first.find(({ index, type }) => type === 'offers' && index === 2)
  expect(negative).toMatchObject({
    id: offers[2]?.offer_id,
    request_id: upload.request_id,
    record: { offer_id: offers[2]?.offer_id, value: -1 },
    truncated: false,
    problems: [{ field: 'value', code: 'out_of_range' }],
  })
  expect(await listed(org, 1, 'code=out_of_range&field=value&type=offers')).toEqual([negative])
  expect(await listed(org, 3, `request_id=${upload.request_id}`)).toHaveLength(3)
  await listed(org, 0, 'code=out_of_range&field=name')

  const summary = (await org.uploader.get<Groups>('/v1/rejections/summary')).body.groups
  expect(summary.map(({ type, code, field, count }) => [type, code, field, count]).sort()).toEqual([
    ['interactions', 'unknown_reference', 'item_id', 1],
    ['offers', 'out_of_range', 'value', 1],
    ['offers', 'unknown_reference', 'shop_id', 2],
  ])
  expect(summary.find(({ code }) => code === 'out_of_range')?.sample).toMatchObject({ id: offers[2]?.offer_id })

  await org.uploader.upload('shops', [late])
  const filter = { code: 'unknown_reference' }
  const dry = await order(org.uploader, { filter, dry_run: true })
  expect([dry.status, dry.headers.get('location')]).toEqual([200, null])
  expect(dry.body).toMatchObject({ dry_run: true, matched: 3, submitted: 3 })
  expect((await listed(org, 4)).map(({ state }) => state)).toEqual(['open', 'open', 'open', 'open'])

  const real = await order(org.uploader, { filter })
  expect(real.status).toBe(202)
  expect(real.headers.get('location')).toBe(`/v1/rejections/retries/${real.body.request_id}`)
  expect(real.body).toMatchObject({ matched: 3, submitted: 3, skipped: { already_retried: 0, over_limit: 0 } })
  const done = await finished(org.uploader, real.body.request_id)
  expect(done).toMatchObject({ accepted: 3, refused: 0, waiting: 0, given_up: 0 })
  for (const { request_id } of done.requests)
    expect((await org.uploader.get(`/v1/requests/${request_id}`)).status).toBe(200)
  const after = await listed(org, 4)
  expect(after.map(({ state, retry }) => `${state} ${retry?.outcome}`).sort()).toEqual([
    'open undefined',
    'retried accepted',
    'retried accepted',
    'retried accepted',
  ])
  expect(await order(org.uploader, { filter })).toMatchObject({
    status: 202,
    body: { status: 'done', matched: 3, submitted: 0, skipped: { already_retried: 3 } },
  })
  // What is left to do is the one that was not retried.
  expect((await listed(org, 1, 'state=open')).map(({ problems }) => problems[0]?.code)).toEqual(['out_of_range'])
  await listed(org, 3, 'state=retried')
  const open = (await org.uploader.get<Groups>('/v1/rejections/summary?state=open')).body
  expect(open.groups.map(({ code, count }) => [code, count])).toEqual([['out_of_range', 1]])
  expect(open.states).toEqual({ open: 1, retried: 3, resolved: 0 })
  await eventually(async () => {
    const rows = await analyst.query('select 1 from weir.interactions where org_id = {org:String}', { org: org.name })
    expect(rows).toHaveLength(1)
  })
  // What an edge submits for an order was sent with the key of the order.
  const { key_id } = (await org.uploader.get<{ key_id: string }>('/v1/me')).body
  await eventually(async () => {
    const path = `/v1/data/offers/${offers[0]?.offer_id}/journey`
    const { body } = await org.uploader.get<{ steps: { kind: string; key_id?: string }[] }>(path)
    const arrivals = body.steps.filter(({ kind }) => kind === 'received')
    expect(arrivals.map((step) => step.key_id)).toEqual([key_id, key_id])
  })

  // Mended and sent by its uploader: what was refused is accepted since. A newer one that waits, or is refused too, overtakes it.
  const again = offerOf(late.shop_id, { offer_id: offers[2]?.offer_id, value: -2 })
  const waits = { ...again, shop_id: randomUUID(), value: 2 }
  await org.uploader.upload('offers?missing_references=wait&wait_for=1h', [waits])
  expect((await listed(org, 1, 'code=out_of_range')).map(({ state }) => state)).toEqual(['overtaken'])
  await org.uploader.upload('offers', [again])
  expect((await listed(org, 2, 'code=out_of_range')).map(({ state }) => state)).toEqual(['open', 'overtaken'])
  expect((await org.uploader.upload('offers', [{ ...again, value: 2 }])).status).toBe(200)
  await eventually(async () =>
    expect((await listed(org, 2, 'code=out_of_range')).map(({ state }) => state)).toEqual([
      'accepted_since',
      'accepted_since',
    ]),
  )
  expect((await order(org.uploader, { filter: { code: 'out_of_range' } })).body).toMatchObject({
    submitted: 0,
    skipped: { accepted_since: 2 },
  })

  // An older record takes the place of what was accepted since only where its sender says what that is, and is it still.
  const refused = (await listed(org, 2, 'code=out_of_range'))[0]
  const older = { ...again, value: 7 }
  const mend = (version: unknown) => org.uploader.upload(`offers?if_version=${version}`, [older])
  const unseen = await mend('none')
  expect([unseen.status, unseen.body]).toEqual([
    409,
    expect.objectContaining({
      conflicts: [
        expect.objectContaining({
          id: offers[2]?.offer_id,
          sent: expect.objectContaining({ value: 7 }),
          current: expect.objectContaining({
            version: refused?.current_version,
            record: expect.objectContaining({ value: 2 }),
          }),
        }),
      ],
    }),
  ])
  expect((await mend(refused?.current_version)).status).toBe(200)
  expect((await mend(refused?.current_version)).status).toBe(409)
  // Who did all this can be looked up by those who manage the organisation's keys.
  const manage = await runWeir(['keys', 'issue', '--org', org.name, '--manage', '--json'], system.env)
  const manager = createUploader(system.edgeUrl, JSON.parse(manage.stdout).key)
  const { body: audit } = await manager.get<{ done: { action: string; by: { key_id: string } }[] }>('/v1/audit')
  expect(audit.done.map(({ action, by }) => [action, by.key_id])).toEqual([
    ['key_issued', null],
    ['records_mended', key_id],
    ['retry_ordered', key_id],
  ])
})

// In every run, test/journeys/rejected submits refused records again, each once, and test/faults kills what decides them.
itDeep(
  'submits each once: by two callers, by an operator beside them, and by another edge where one is killed',
  async () => {
    const { org, offers } = await withRefusedOffers('each-once', 60)
    const other = await startEdge({})
    const uploaders = [org.uploader, createUploader(other.url, org.key)]
    kill('integrity', 'SIGSTOP')
    const filter = { type: 'offers' }
    const placed = await Promise.all([0, 1, 0, 1].map((i) => order(uploaders[i] as Uploader, { filter, limit: 40 })))
    const taken = () => placed.reduce((sum, { body }) => sum + body.submitted, 0)
    // Orders that are placed at the same moment may all mean the same 40: the answer of all but one says so, and the next takes the rest.
    while (taken() < 60 && placed.length < 8) placed.push(await order(org.uploader, { filter, limit: 40 }))
    expect(placed.map(({ status }) => status)).toEqual(placed.map(() => 202))
    expect(taken()).toBe(60)
    const keyed = { 'idempotency-key': randomUUID() }
    const [first, second] = [await order(org.uploader, { filter }, keyed), await order(org.uploader, { filter }, keyed)]
    expect(second.body.request_id).toBe(first.body.request_id)
    expect((await order(org.uploader, { filter, limit: 1 }, keyed)).status).toBe(409)
    // What was ordered is claimed: an operator's run has nothing to do. The edge that took the orders is killed in the middle.
    const { stdout } = await runWeir(['rejected', 'retry', '--org', org.name, '--all', '--json'], {
      ...system.env,
      EDGE_URL: other.url,
    })
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 0, refused: 0, resumed: 0 })
    kill('edge')
    kill('integrity', 'SIGCONT')

    const afterwards = createUploader(other.url, org.key)
    for (const { body } of placed) expect(await finished(afterwards, body.request_id)).toMatchObject({ given_up: 0 })
    const all = await Promise.all(placed.map(({ body }) => finished(afterwards, body.request_id)))
    expect(all.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(60)
    await untilQuiet(system.env.KAFKA_BROKERS)
    await eventually(async () => {
      const found = await versionsOf(org)
      expect(found.map(({ id }) => id)).toEqual(offers.map(({ offer_id }) => String(offer_id)).sort())
      expect(found.every(({ versions }) => versions === 1)).toBe(true)
    })
    await other.stop()
    await eventually(async () => expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200), 60_000)
  },
)

it('does not undo an upload of a moment ago: what was overtaken is left out, and the rest is sent', async () => {
  const { org, offers, shopId } = await withRefusedOffers('overtaken-order', 3)
  // Neither is in ClickHouse by the time at which the order is placed.
  kill('sink', 'SIGSTOP')
  const newer = { ...offers[0], shop_id: shopId, name: 'newer' }
  expect((await org.uploader.upload('offers', [newer])).status).toBe(200)
  const placed = await order(org.uploader, { filter: { type: 'offers' } })
  expect(placed.body).toMatchObject({ matched: 3, submitted: 3 })
  kill('sink', 'SIGCONT')
  const done = await finished(org.uploader, placed.body.request_id)
  expect(done).toMatchObject({ accepted: 2, refused: 0, given_up: 1 })
  await eventually(async () => expect((await versionsOf(org)).map(({ versions }) => versions)).toEqual([1, 1, 1]))
  const rows = await analyst.query(
    'select name from weir.offers where org_id = {org:String} and offer_id = {id:UUID}',
    {
      org: org.name,
      id: String(offers[0]?.offer_id),
    },
  )
  expect(rows).toEqual([{ name: 'newer' }])
  const later = await order(org.uploader, { filter: { type: 'offers' } })
  expect(later.body).toMatchObject({ submitted: 0, skipped: { accepted_since: 1, already_retried: 2 } })
})

it('keeps and submits again what was sent, also a number that no double holds', async () => {
  const org = await newOrganisation('own-exact')
  const { shop_id } = sampleOf(shop)
  const ids = [randomUUID(), randomUUID(), randomUUID()]
  const branchOf = (id = '') =>
    JSON.stringify(sampleOf(branch, { branch_id: id, shop_id, is_deleted: false, latitude: 7 }))
  const infinite = branchOf(ids[0]).replace('"latitude":7', '"latitude": 1e400')
  const negativeZero = branchOf(ids[1]).replace('"latitude":7', '"latitude":-0')
  const csv = `branch_id,shop_id,name,region,latitude\n${ids[2]},${shop_id},by CSV,GB,1e400\n`
  // The first is refused by the edge, the second by integrity: its shop is not there yet.
  const body = `{"records":[${infinite},${negativeZero}]}`
  expect((await org.uploader.send('POST', '/v1/data/branches', body)).status).toBe(400)
  const lined = await org.uploader.send('POST', '/v1/data/branches', csv, { 'content-type': 'text/csv' })
  expect(lined.status).toBe(400)

  await listed(org, 3)
  const text = await textOf(org, '/v1/rejections')
  for (const given of ['"latitude": 1e400', '"latitude":-0', '"latitude":1e400']) expect(text).toContain(given)
  await org.uploader.upload('shops', [sampleOf(shop, { shop_id })])
  const { body: placed } = await order(org.uploader, { filter: { type: 'branches' } })
  expect(await finished(org.uploader, placed.request_id)).toMatchObject({ submitted: 3, accepted: 1, refused: 2 })
  // The rejections of that retry, by an operator.
  await listed(org, 5)
  const { stdout } = await runWeir(['rejected', 'retry', '--org', org.name, '--all', '--json'], {
    ...system.env,
    EDGE_URL: system.edgeUrl,
  })
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 0, refused: 2 })
  const found = await eventually(async () => {
    const rows = await analyst.query<{ id: string; latitude: string }>(
      'select toString(branch_id) as id, toString(latitude) as latitude from weir.branches where org_id = {org:String}',
      { org: org.name },
    )
    expect(rows).toHaveLength(1)
    return rows
  })
  expect(found).toEqual([{ id: ids[1], latitude: '-0' }])
})

it('changes one value in all records that have it, and submits them again', async () => {
  const org = await newOrganisation('one-value')
  const shops = ['Great Britain', 'Great Britain', 'Atlantis'].map((region) =>
    sampleOf(shop, { region, is_deleted: false }),
  )
  expect((await org.uploader.upload('shops', shops)).status).toBe(400)
  await listed(org, 3)
  const filter = { type: 'shops', field: 'region' }
  const { body: counted } = await org.uploader.get(`/v1/rejections/values?${new URLSearchParams(filter)}&state=open`)
  expect(counted).toEqual({
    values: [
      { value: 'Great Britain', count: 2 },
      { value: 'Atlantis', count: 1 },
    ],
    complete: true,
  })
  const change = { field: 'region', from: 'Great Britain', to: 'GB' }
  const dry = await order(org.uploader, { filter, change, dry_run: true })
  const sample = { before: 'Great Britain', after: 'GB', problems: [] }
  expect(dry.body).toMatchObject({ matched: 2, submitted: 2, samples: [sample, sample] })
  const { body: placed } = await order(org.uploader, { filter, change })
  expect(await finished(org.uploader, placed.request_id)).toMatchObject({ submitted: 2, accepted: 2, refused: 0 })
  await eventually(async () => {
    const rows = await analyst.query('select region from weir.shops where org_id = {org:String}', { org: org.name })
    expect(rows).toEqual([{ region: 'GB' }, { region: 'GB' }])
  })
  expect((await listed(org, 1, 'state=open'))[0]?.record).toMatchObject({ region: 'Atlantis' })
})

itDeep('pages without skipping or doubling while more are refused', async () => {
  const org = await newOrganisation('own-pages')
  const refuse = async (count: number) => {
    const bad = Array.from({ length: count }, () => sampleOf(shop, { region: 'nowhere' }))
    expect((await org.uploader.upload('shops', bad)).status).toBe(400)
    return bad.map(({ shop_id }) => String(shop_id))
  }
  const there = [...(await refuse(30)), ...(await refuse(25))].sort()
  await listed(org, 55)
  const seen: string[] = []
  for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
    const from: string = cursor === null ? '' : `&cursor=${cursor}`
    const { body }: { body: Page } = await org.uploader.get<Page>(`/v1/rejections?limit=7${from}`)
    seen.push(...body.rejections.map(({ id }) => String(id)))
    cursor = body.next_cursor
    if (seen.length < 30) await refuse(3)
  }
  expect(seen.filter((id) => there.includes(id)).sort()).toEqual(there)
})

it('counts what came in by type and day, a record that was delivered twice once', async () => {
  const org = await newOrganisation('own-quality')
  const shops = Array.from({ length: 20 }, () => sampleOf(shop, { is_deleted: false }))
  const bad = Array.from({ length: 5 }, () => sampleOf(shop, { region: 'nowhere', name: 7 }))
  expect((await org.uploader.upload('shops', [...shops, ...bad])).status).toBe(207)
  expect((await org.uploader.upload('shops', shops.slice(0, 4))).status).toBe(200)
  const key = { 'idempotency-key': randomUUID() }
  for (const _ of [1, 2]) expect((await org.uploader.upload('shops', shops.slice(0, 3), key)).status).toBe(200)
  const look = sampleOf(interaction, { item_type: 'SHOP', item_id: shops[0]?.shop_id, student_id: null })
  expect((await org.uploader.interact(look)).status).toBe(201)

  const expected = [
    { type: 'interactions', received: 1, accepted: 1, refused: 0, top_codes: [] },
    {
      type: 'shops',
      received: 32,
      accepted: 27,
      refused: 5,
      top_codes: [
        { code: 'bad_format', count: 5 },
        { code: 'wrong_type', count: 5 },
      ],
    },
  ]
  const both = await eventually(async () => {
    const { status, body } = await org.uploader.get<Quality>('/v1/quality')
    expect(status).toBe(200)
    expect(body.days).toMatchObject(expected)
    return body.days
  })
  expect(both.every(({ last_accepted_at }) => Date.parse(String(last_accepted_at)) > 0)).toBe(true)
  const rows = await analyst.query<{ type: string; received: string }>(
    'select type, received from weir.quality where org_id = {org:String} order by type',
    { org: org.name },
  )
  expect(rows.map(({ type, received }) => [type, Number(received)])).toEqual([
    ['interactions', 1],
    ['shops', 32],
  ])
  expect((await org.uploader.get<Quality>('/v1/quality?from=2020-01-01&to=2020-01-31')).body.days).toEqual([])
})

it('shows nothing of it to another organisation, and nothing to a key that may not see it', async () => {
  const { org } = await withRefusedOffers('own-owner', 2)
  const placed = await order(org.uploader, { filter: { type: 'offers' }, limit: 1 })
  const stranger = await newOrganisation('own-stranger')
  const page = (await org.uploader.get<Page>('/v1/rejections?limit=1')).body
  const ofOwner = page.rejections[0]
  for (const query of [
    '',
    `?request_id=${ofOwner?.request_id}`,
    `?request_id=${ofOwner?.batch_id}`,
    `?cursor=${page.next_cursor}`,
  ])
    expect((await stranger.uploader.get<Page>(`/v1/rejections${query}`)).body).toEqual({
      rejections: [],
      next_cursor: null,
    })
  expect((await stranger.uploader.get<Groups>('/v1/rejections/summary')).body.groups).toEqual([])
  expect((await stranger.uploader.get<Quality>('/v1/quality')).body.days).toEqual([])
  expect((await stranger.uploader.get(`/v1/rejections/retries/${placed.body.request_id}`)).status).toBe(404)
  expect((await order(stranger.uploader, { filter: { request_id: ofOwner?.request_id } })).body).toMatchObject({
    matched: 0,
    submitted: 0,
  })

  const narrow = await newOrganisation('own-narrow', 'offers:write')
  const reader = await newOrganisation('own-reader', 'rejections:read')
  const writer = await newOrganisation('own-writer', 'rejections:write')
  const statuses = async ({ uploader }: Organisation) => [
    (await uploader.get('/v1/rejections')).status,
    (await uploader.get('/v1/quality')).status,
    (await order(uploader, { filter: { type: 'offers' } })).status,
  ]
  expect(await statuses(narrow)).toEqual([403, 403, 403])
  expect(await statuses(reader)).toEqual([200, 200, 403])
  expect(await statuses(writer)).toEqual([403, 403, 202])
})

itDeep('says that rejections cannot be read while ClickHouse is away, and uploads go on', async () => {
  const org = await newOrganisation('own-away')
  kill('clickhouse', 'SIGSTOP')
  try {
    const [read, sent] = await Promise.all([
      org.uploader.get<{ message: string }>('/v1/rejections'),
      org.uploader.upload('shops', [sampleOf(shop)]),
    ])
    expect(sent.status).toBe(200)
    expect([read.status, read.headers.get('retry-after')]).toEqual([503, '5'])
    expect(read.body.message).toContain('rejections cannot be read at the moment')
  } finally {
    kill('clickhouse', 'SIGCONT')
  }
  await listed(org, 0)
})
