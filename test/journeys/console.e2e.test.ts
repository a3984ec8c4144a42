import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { interaction } from '#schemas/records/interaction.js'
import { keyword } from '#schemas/records/keyword.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { createWeir, WeirError } from '../../clients/typescript/src/index.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sampleOf } from '../support/sample.js'
import { kill } from '../support/system/processes.js'
import { newOrganisation, type Organisation, operate, system } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// What the console's pages ask the edge for, against the whole system.

type Step = {
  kind: string
  words: string
  key_id?: string
  topic?: string
  partition?: number
  offset?: number
  version?: number
  request_id?: string
  row?: Record<string, unknown>
  changes?: unknown[]
}
type Journey = {
  steps: Step[]
  refers_to: { field: string; type: string; id: string; exists: boolean }[]
  referred_by: { type: string; count: number; sample: string[] }[]
}
type TopicEvent = { partition: number; offset: number; value: { version: number } }
type Listed = {
  requests: { request_id: string; type: string; status: string; accepted: number; refused: number; waiting: number }[]
}

/** Reads live events with fetch, as the page does. */
const listen = async ({ key }: Organisation, path = '/v1/live') => {
  const ending = new AbortController()
  const answer = await fetch(`${system.edgeUrl}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: ending.signal,
  })
  const events: { event: string; data: Record<string, unknown> }[] = []
  let isOver = false
  const read = async () => {
    let text = ''
    for await (const chunk of answer.body ?? []) {
      const parts = (text + Buffer.from(chunk as Uint8Array).toString()).split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, event, data = '{}'] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? []
        if (event) events.push({ event, data: JSON.parse(data) })
      }
    }
  }
  void read()
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  /** Of all buckets: the last number that was sent for each. */
  const total = (name: string): number => {
    const buckets = new Map<string, number>()
    for (const { event, data } of events) {
      if (event === 'rates') buckets.set(String(data.at), Number(data[name]))
      if (event !== 'history') continue
      const from = Date.parse(String(data.from))
      for (const [i, count] of (data[name] as number[]).entries())
        buckets.set(new Date(from + i * 5000).toISOString(), count)
    }
    return [...buckets.values()].reduce((sum, count) => sum + count, 0)
  }
  return { status: answer.status, events, total, close: () => ending.abort(), isOver: () => isOver }
}

itDeep(
  'shows what is decided as it happens, and after a restart of the edge the same from the stored verdicts',
  async () => {
    const org = await newOrganisation('live')
    const stranger = await newOrganisation('live-stranger')
    const [mine, theirs] = [await listen(org), await listen(stranger)]
    const shops = Array.from({ length: 7 }, () => sampleOf(shop, { is_deleted: false }))
    expect((await org.uploader.upload('shops', [...shops, sampleOf(shop, { region: 'nowhere' })])).status).toBe(207)
    const look = sampleOf(interaction, { item_type: 'SHOP', item_id: shops[0]?.shop_id, student_id: null })
    expect((await org.uploader.interact(look)).status).toBe(201)
    const counts = (stream: typeof mine) => ['accepted', 'refused', 'interactions'].map((name) => stream.total(name))
    await eventually(async () => expect(counts(mine)).toEqual([7, 1, 1]))
    expect(counts(theirs)).toEqual([0, 0, 0])
    theirs.close()

    kill('edge')
    await eventually(async () => expect(mine.isOver()).toBe(true))
    const again = await eventually(() => listen(org), 60_000)
    await eventually(async () => expect(counts(again)).toEqual([7, 1, 1]))
    again.close()
  },
)

itDeep('ends a live stream when its key is revoked', async () => {
  const org = await newOrganisation('live-revoked')
  const stream = await listen(org)
  expect(stream.status).toBe(200)
  const [, keyId = ''] = org.key.split('_')
  await operate(['keys', 'revoke', keyId])
  await eventually(async () => expect(stream.isOver()).toBe(true), 30_000)
  expect(stream.events.at(-1)).toMatchObject({ event: 'end' })
})

it("tells a record's whole way, and lists the requests that it came in", async () => {
  const org = await newOrganisation('journey')
  const stranger = await newOrganisation('journey-stranger')
  const parent = sampleOf(shop, { is_deleted: false })
  const child = sampleOf(offer, { shop_id: parent.shop_id, is_deleted: false, name: 'first' })
  const send = async (type: string, record: unknown) => (await org.uploader.upload(type, [record])).body.request_id
  const refused = await send('offers', child)
  const parents = await send('shops', parent)
  const accepted = await send('offers', child)
  const changed = await send('offers', { ...child, name: 'second' })
  const deleted = await send('offers', { ...child, name: 'second', is_deleted: true })
  const path = `/v1/data/offers/${String(child.offer_id).toUpperCase()}/journey`
  const journey = await eventually(async () => {
    const { status, body } = await org.uploader.get<Journey>(path)
    expect(status).toBe(200)
    expect(body.steps.map(({ kind }) => kind)).toEqual([
      ...['received', 'refused'],
      ...['received', 'accepted', 'published'],
      ...['received', 'changed', 'published'],
      ...['received', 'deleted', 'published', 'stored'],
    ])
    return body
  })
  expect(journey.steps.filter(({ kind }) => kind === 'received').map(({ request_id }) => request_id)).toEqual([
    refused,
    accepted,
    changed,
    deleted,
  ])
  const { key_id } = (await org.uploader.get<{ key_id: string }>('/v1/me')).body
  for (const step of journey.steps.filter(({ kind }) => kind === 'received'))
    expect(step).toMatchObject({ topic: 'weir.submitted.offers', offset: expect.any(Number), key_id })
  // Where the topic itself says that they are.
  const { events } = (await org.uploader.get<{ events: TopicEvent[] }>('/v1/topics/weir.accepted.offers/events')).body
  const places = events.map(({ partition, offset, value }) => ({ partition, offset, version: value.version }))
  expect(places).toHaveLength(3)
  await eventually(async () => {
    const { body } = await org.uploader.get<Journey>(path)
    const published = body.steps.filter(({ kind }) => kind === 'published')
    expect(published.map(({ partition, offset, version }) => ({ partition, offset, version }))).toEqual(places)
  })
  expect(journey.steps.find(({ kind }) => kind === 'changed')?.changes).toEqual([
    { field: 'name', before: 'first', after: 'second' },
  ])
  expect(journey.steps.at(-1)?.row).toMatchObject({ offer_id: child.offer_id, name: 'second', is_deleted: true })
  expect(journey.refers_to).toContainEqual({ field: 'shop_id', type: 'shops', id: parent.shop_id, exists: true })

  const other = sampleOf(offer, { shop_id: parent.shop_id, is_deleted: false })
  await send('offers', other)
  await eventually(async () => {
    const { body } = await org.uploader.get<Journey>(`/v1/data/shops/${parent.shop_id}/journey`)
    // What is deleted no longer refers to anything.
    expect(body.referred_by).toEqual([{ type: 'offers', count: 1, sample: [other.offer_id] }])
  })
  expect((await stranger.uploader.get(path)).status).toBe(404)

  const list = async (query: string) => (await org.uploader.get<Listed>(`/v1/requests?${query}`)).body.requests
  const ids = async (query: string) => (await list(query)).map(({ request_id }) => request_id)
  expect(await ids('type=offers&status=refused')).toEqual([refused])
  expect((await ids('type=offers')).slice(1)).toEqual([deleted, changed, accepted, refused])
  expect(await ids('type=shops')).toEqual([parents])
  expect((await ids('')).length).toBe(6)
  expect((await stranger.uploader.get<Listed>('/v1/requests')).body).toEqual({ requests: [], next_cursor: null })

  const look = sampleOf(interaction, { item_type: 'SHOP', item_id: parent.shop_id, student_id: null })
  const { body: taken } = await org.uploader.interact(look)
  await eventually(async () => {
    const { body } = await org.uploader.get<Journey>(`/v1/data/interactions/${taken.interaction_id}/journey`)
    expect(body.steps?.map((step) => [step.kind, step.key_id])).toEqual([
      ['received', key_id],
      ...['accepted', 'published', 'stored'].map((kind) => [kind, undefined]),
    ])
    expect(body.steps[2]).toMatchObject({ topic: 'weir.interactions', offset: expect.any(Number) })
  })
})

it('tells that a record waits, and what came of it, in its journey, among the requests and live', async () => {
  const org = await newOrganisation('waiting-way')
  const stranger = await newOrganisation('waiting-stranger')
  const live = await listen(org)
  const parent = sampleOf(shop, { is_deleted: false })
  const child = sampleOf(offer, { shop_id: parent.shop_id, is_deleted: false, name: 'first' })
  const path = `/v1/data/offers/${child.offer_id}/journey`
  const wait = (record: unknown) => org.uploader.upload('offers?missing_references=wait', [record])
  const kinds = async () => (await org.uploader.get<Journey>(path)).body.steps?.map(({ kind }) => kind)
  const list = async (query: string) => (await org.uploader.get<Listed>(`/v1/requests?${query}`)).body.requests

  expect((await wait(child)).status).toBe(207)
  await eventually(async () => expect(await kinds()).toEqual(['received', 'waited']), 60_000)
  const { body } = await org.uploader.get<Journey>(path)
  expect(body.refers_to).toEqual([{ field: 'shop_id', type: 'shops', id: parent.shop_id, exists: false }])
  expect(await list('status=waiting')).toMatchObject([{ status: 'waiting', accepted: 0, waiting: 1 }])
  await eventually(async () => expect(live.total('waiting')).toBe(1))
  expect((await stranger.uploader.get(path)).status).toBe(404)

  expect((await wait({ ...child, name: 'second' })).status).toBe(207)
  expect((await org.uploader.upload('shops', [parent])).status).toBe(200)
  await eventually(
    async () =>
      expect(await kinds()).toEqual([
        ...['received', 'waited', 'superseded'],
        ...['received', 'waited', 'accepted', 'published', 'stored'],
      ]),
    60_000,
  )
  const { body: whole } = await org.uploader.get<Journey>(path)
  const { key_id } = (await org.uploader.get<{ key_id: string }>('/v1/me')).body
  const arrivals = whole.steps.filter(({ kind }) => kind === 'received')
  expect(arrivals.map((step) => step.key_id)).toEqual([key_id, key_id])
  expect(await list('status=waiting')).toEqual([])
  expect((await list('type=offers')).map(({ status, accepted }) => [status, accepted])).toEqual([
    ['accepted', 1],
    ['partial', 0],
  ])
  await eventually(async () => expect([live.total('waiting'), live.total('accepted')]).toEqual([2, 2]))
  live.close()
})

it('shows a request that is not decided yet as pending', async () => {
  const org = await newOrganisation('pending')
  kill('integrity', 'SIGSTOP')
  try {
    const { status, body } = await org.uploader.upload('shops', [sampleOf(shop)], {
      prefer: 'respond-async',
      'idempotency-key': randomUUID(),
    })
    expect(status).toBe(202)
    const { body: listed } = await org.uploader.get<Listed>('/v1/requests?status=pending')
    expect(listed.requests).toMatchObject([{ request_id: body.request_id, status: 'pending', records: 1, accepted: 0 }])
  } finally {
    kill('integrity', 'SIGCONT')
  }
  await eventually(async () =>
    expect((await org.uploader.get<Listed>('/v1/requests')).body.requests).toMatchObject([
      { status: 'accepted', accepted: 1 },
    ]),
  )
})

it('tells on the overview what works, how fresh each type is, and what was refused last', async () => {
  const org = await newOrganisation('overview')
  expect((await org.uploader.upload('shops', [sampleOf(shop), sampleOf(shop, { region: 'nowhere' })])).status).toBe(207)
  await eventually(async () => {
    const { body } = await org.uploader.get<{
      parts: { name: string; ok: boolean; words: string }[]
      freshness: { type: string; last_accepted_at: string | null }[]
      last_refusals: { type: string }[]
    }>('/v1/overview')
    expect(body.parts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['kafka', 'integrity', 'sink', 'clickhouse']),
    )
    expect(body.parts.every(({ ok, words }) => ok && words.length > 0)).toBe(true)
    const fresh = body.freshness.filter(({ last_accepted_at }) => last_accepted_at !== null)
    expect(fresh.map(({ type }) => type)).toEqual(['shops'])
    expect(body.last_refusals).toMatchObject([{ type: 'shops' }])
  })
})

it('finds whatever has an id, and counts what was decided in an hour and in months', async () => {
  const [org, other] = [await newOrganisation('finding'), await newOrganisation('finding-other')]
  const [taken, refused] = [sampleOf(tag), sampleOf(tag, { name: 5 })]
  const { body: sent } = await org.uploader.upload('tags', [taken, refused])
  const { request_id: request, batches } = sent as { request_id: string; batches: { data: { batch_id: string } }[] }
  type Found = { found: { kind: string; type: string; request_id?: string }[]; complete: boolean }
  const find = async (id: unknown, by = org) => (await by.uploader.get<Found>(`/v1/find?id=${id}`)).body
  await eventually(async () => {
    for (const id of [taken.tag_id, refused.tag_id])
      expect(await find(id)).toEqual({ found: [{ kind: 'record', type: 'tags', id }], complete: true })
  })
  expect((await find(request)).found).toMatchObject([{ kind: 'request', type: 'tags' }])
  expect((await find(batches[0]?.data.batch_id)).found).toMatchObject([{ kind: 'batch', request_id: request }])
  for (const id of [taken.tag_id, request, randomUUID()]) expect((await find(id, other)).found).toEqual([])

  type Activity = Record<'accepted' | 'refused', number[]>
  const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)
  for (const span of ['1h', '24h', '7d', '90d'])
    await eventually(async () => {
      const { body } = await org.uploader.get<Activity>(`/v1/activity?span=${span}`)
      expect([span, sum(body.accepted), sum(body.refused)]).toEqual([span, 1, 1])
    })
})

it('lets an operator look at every organisation, and issue, rotate, limit and revoke keys', async () => {
  const org = await newOrganisation('watched')
  expect((await org.uploader.upload('shops', [sampleOf(shop)])).status).toBe(200)
  const { key } = await operate<{ key: string; is_operator: boolean }>([
    'keys',
    'issue',
    '--operator',
    '--expires',
    '1h',
  ])
  const operator = createUploader(system.edgeUrl, key)
  expect((await operator.get('/v1/me')).body).toMatchObject({ org_id: 'weir-operators', is_operator: true })
  expect((await operator.get<Listed>(`/v1/requests?org=${org.name}`)).body.requests).toHaveLength(1)
  expect((await operator.get<Listed>('/v1/requests')).body.requests).toEqual([])
  expect((await operator.get<{ lag: unknown[] }>(`/v1/overview?org=${org.name}`)).body.lag.length).toBeGreaterThan(0)

  type Made = { key_id: string; key: string; replaces?: { key_id: string } }
  const change = <T>(method: 'POST' | 'PUT', path: string, body: unknown) =>
    operator.send<T>(method, `/v1/operator${path}`, JSON.stringify(body))
  const made = await change<Made>('POST', '/keys', { org: org.name, scopes: ['shops:write'] })
  expect(made.status).toBe(201)
  const upload = (text: string) => createUploader(system.edgeUrl, text).upload('shops', [sampleOf(shop)])
  expect((await upload(made.body.key)).status).toBe(200)
  const rotated = await change<Made>('POST', `/keys/${made.body.key_id}/rotate`, { grace_seconds: 0 })
  expect(rotated.body.replaces).toMatchObject({ key_id: made.body.key_id })
  await eventually(async () => expect((await upload(made.body.key)).status).toBe(401))
  expect((await upload(rotated.body.key)).status).toBe(200)
  expect((await change('PUT', `/organisations/${org.name}/limits`, { requests_per_second: 1000 })).body).toMatchObject({
    requests_per_second: 1000,
  })
  expect((await change('POST', `/keys/${rotated.body.key_id}/revoke`, {})).status).toBe(200)
  await eventually(async () => expect((await upload(rotated.body.key)).status).toBe(401))
  const { body } = await operator.get<{ keys: { key_id: string; state: string }[] }>(
    `/v1/operator/keys?org=${org.name}`,
  )
  expect(body.keys.map(({ state }) => state).sort()).toEqual(['active', 'revoked', 'revoked'])
  expect(JSON.stringify(body)).not.toContain(rotated.body.key)
  // Its own successor it does not make: that is for somebody at the server.
  const [, own] = key.split('_')
  expect((await change('POST', `/keys/${own}/rotate`, {})).status).toBe(409)
  expect((await org.uploader.get('/v1/operator/keys')).status).toBe(403)
})

it('lets an organisation manage its own keys, on every edge at once, and shows what was done', async () => {
  const org = await newOrganisation('managing', 'all,keys:manage')
  const weir = createWeir({ url: system.edgeUrl, key: org.key })
  const made = await weir.keys.issue({ name: 'nightly upload', scopes: ['shops:write'] })
  const nightly = createWeir({ url: system.edgeUrl, key: made.key })
  const record = sampleOf(shop) as never
  expect((await nightly.shops.send([record])).accepted).toBe(1)
  await expect(nightly.keys.issue()).rejects.toMatchObject({ kind: 'key', status: 403 })
  await expect(nightly.of('tags').send([{}])).rejects.toMatchObject({ kind: 'key', status: 403 })
  const stale = await weir.shops.send([record], { ifVersion: [null] }).catch((error: WeirError) => error)
  if (!(stale instanceof WeirError)) throw new Error('a record was replaced that was not seen')
  const seen = stale.conflicts.map(({ current }) => current?.version ?? null)
  expect((await weir.shops.send([record], { ifVersion: seen })).accepted).toBe(1)
  await weir.keys.rename(made.key_id, 'tills')
  await weir.keys.revoke(made.key_id)
  await eventually(() => expect(nightly.shops.send([record])).rejects.toMatchObject({ status: 401 }))
  const ended: string[] = []
  for await (const { key_id, name } of weir.keys.list({ state: 'ended' })) ended.push(`${key_id} ${name}`)
  expect(ended).toEqual([`${made.key_id} tills`])
  await eventually(async () => {
    const done: string[] = []
    for await (const { action, subject } of weir.audit.list({ pageSize: 2 })) done.push(`${action} ${subject}`)
    expect(done.sort()).toEqual([
      `key_issued ${made.key_id}`,
      `key_renamed ${made.key_id}`,
      `key_revoked ${made.key_id}`,
      'records_mended shops',
    ])
  })
})

it('shows an operator what each organisation sends, and how the parts are', async () => {
  const org = await newOrganisation('counted')
  const silent = await newOrganisation('counted-silent')
  const { key } = await operate<{ key: string }>(['keys', 'issue', '--operator', '--expires', '1h'])
  const operator = createUploader(system.edgeUrl, key)
  await operate(['orgs', 'limits', org.name, '--requests', '1'])
  await org.uploader.upload('shops', [sampleOf(shop), sampleOf(shop), sampleOf(shop, { region: 'nowhere' })])
  type Figures = { all: object; organisations: Record<string, unknown>[]; next_cursor: string | null }
  await eventually(async () => {
    await org.uploader.get('/v1/me')
    const { body } = await operator.get<Figures>('/v1/operator/figures?prefix=counted&hours=1')
    expect(body.all).toEqual({ organisations: 2, accepted: 2, refused: 1, waiting: 0 })
    expect(body.organisations).toMatchObject([
      { org: org.name, accepted: 2, refused: 1, waiting: 0, requests_per_second: 1, active_keys: 1, lag_seconds: 0 },
      { org: silent.name, accepted: 0, refused: 0, requests_per_second: null, limited: 0 },
    ])
    expect(Number(body.organisations[0]?.limited)).toBeGreaterThan(0)
  })
  const first = await operator.get<Figures>('/v1/operator/figures?prefix=counted&limit=1')
  const next = `/v1/operator/figures?prefix=counted&limit=1&cursor=${first.body.next_cursor}`
  expect((await operator.get<Figures>(next)).body).toMatchObject({
    organisations: [{ org: silent.name }],
    next_cursor: null,
  })

  type Parts = {
    parts: { name: string; ok: boolean }[]
    storage: { part: string; used_bytes: number | null; free_bytes: number | null }[]
    groups: { group: string; state: string; members: number; lag: number }[]
  }
  const { body } = await operator.get<Parts>('/v1/operator/system')
  expect(body.parts.every(({ ok }) => ok)).toBe(true)
  const bytes = Object.fromEntries(body.storage.map(({ part, ...sizes }) => [part, sizes]))
  expect(bytes.postgres?.used_bytes).toBeGreaterThan(0)
  expect(bytes.clickhouse?.used_bytes).toBeGreaterThan(0)
  expect(bytes.clickhouse?.free_bytes).toBeGreaterThan(0)
  // Those of edges that have ended may be listed, too.
  const lasting = body.groups.filter(({ group }) => /^weir-(integrity|sink)/.test(group))
  expect(new Set(lasting.map(({ group }) => group.split('-')[1]))).toEqual(new Set(['integrity', 'sink']))
  for (const { state, members } of lasting) expect([state, members > 0]).toEqual(['Stable', true])
})

it("shows the last events of one's own on a topic, and new ones as they are published", async () => {
  const org = await newOrganisation('topic')
  const stranger = await newOrganisation('topic-stranger')
  const [first, second] = [sampleOf(shop, { is_deleted: false }), sampleOf(shop, { is_deleted: false })]
  expect((await org.uploader.upload('shops', [first])).status).toBe(200)
  const path = '/v1/topics/weir.accepted.shops/events'
  type Events = { events: { key: string; value: Record<string, unknown>; offset: number; partition: number }[] }
  await eventually(async () => {
    const { status, body } = await org.uploader.get<Events>(path)
    expect(status).toBe(200)
    expect(body.events).toMatchObject([
      { key: `${org.name}/${first.shop_id}`, value: { name: first.name, org_id: org.name } },
    ])
  })
  const [mine, theirs] = [await listen(org, `${path}/live`), await listen(stranger, `${path}/live`)]
  const ids = () => mine.events.map(({ data }) => (data.value as Record<string, unknown>).shop_id)
  await eventually(async () => expect(ids()).toEqual([first.shop_id]))
  expect((await org.uploader.upload('shops', [second])).status).toBe(200)
  await eventually(async () => expect(ids()).toEqual([first.shop_id, second.shop_id]), 30_000)
  expect(theirs.events).toEqual([])
  expect((await stranger.uploader.get<Events>(path)).body.events).toEqual([])
  mine.close()
  theirs.close()
})

itDeep("shows the last events of one's own also where the end of the topic is all of others", async () => {
  const quiet = await newOrganisation('quiet')
  const loud = await newOrganisation('loud')
  const own = [sampleOf(keyword), sampleOf(keyword), sampleOf(keyword)]
  expect((await quiet.uploader.upload('keywords', own)).status).toBe(200)
  for (let n = 0; n < 3; n++) {
    const many = Array.from({ length: 4000 }, () => sampleOf(keyword))
    expect((await loud.uploader.upload('keywords', many)).status).toBe(200)
  }
  const ids = own.map((each) => String(each.keyword_id)).sort()
  const path = '/v1/topics/weir.accepted.keywords/events'
  await eventually(async () => {
    const { body } = await quiet.uploader.get<{ events: { value: { keyword_id: string } }[] }>(path)
    expect(body.events.map(({ value }) => value.keyword_id).sort()).toEqual(ids)
  })
  const live = await listen(quiet, `${path}/live`)
  await eventually(async () =>
    expect(live.events.map(({ data }) => (data.value as { keyword_id: string }).keyword_id).sort()).toEqual(ids),
  )
  live.close()
})
