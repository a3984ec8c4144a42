import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { writeCursor } from '#http/cursor.js'
import { catalogue } from '#schemas/catalogue.js'
import { logTableOf } from '#schemas/derive/names.js'
import { marts } from '#schemas/marts/all.js'
import type { RecordType } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { analyst, newOrganisation, type Organisation, operate, system } from '../support/system/system.js'
import type { Answer } from '../support/system/uploader.js'

/** What the owner has, as a stranger would name it, and the same with ids that nobody has. */
type Walk = { foreign: () => Promise<Answer<unknown>>; absent: () => Promise<Answer<unknown>> }

const owner = await newOrganisation('owner')
// May do everything for its own organisation, keys included.
const stranger = await newOrganisation('stranger', 'all,keys:manage')
// Uploads under the owner's ids, and so comes to have records of its own there; the stranger never does.
const copier = await newOrganisation('copier')
const { uploader } = stranger

// In the catalogue's order: what is referred to comes first.
const owned = new Map<string, Record<string, unknown>>()
for (const type of catalogue.uploads.values()) {
  const record = recordOf(type, idOfOwned)
  const { status } = await owner.uploader.upload(type.type, [record])
  if (status !== 200) throw new Error(`the owner's ${type.type} were answered ${status}`)
  owned.set(type.type, record)
}
const ownedShop = String(owned.get('shops')?.shop_id)
const request = (await owner.uploader.upload('shops', [sampleOf(shop)])).body.request_id
const touch = (item_id: string) => sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id })
await owner.uploader.interact(touch(ownedShop))

const refused = (await owner.uploader.upload('shops', [sampleOf(shop, { region: 'nowhere' })])).body.request_id
const ofShops = JSON.stringify({ filter: { type: 'shops' } })
const retried = (await owner.uploader.send<{ request_id: string }>('POST', '/v1/rejections/retry', ofShops)).body
  .request_id
// An offer of the owner's that waits for a shop that nobody has.
const missingShop = randomUUID()
const waiting = sampleOf(offer, { shop_id: missingShop })
await owner.uploader.upload('offers?missing_references=wait', [waiting])
const behind = (missing_id: string) => `missing_type=shops&missing_id=${missing_id}`
const cancel = (missing_id: string) =>
  uploader.send('POST', '/v1/waiting/cancel', JSON.stringify({ missing_type: 'shops', missing_id }))
/** The rows of a mart; the query beside them names whose they are. */
const martOf = async (who: Organisation, path: string): Promise<Answer<unknown>> => {
  const { body, ...answer } = await who.uploader.get<{ rows: unknown[]; truncated: boolean }>(path)
  return { ...answer, body: [body.rows, body.truncated] }
}
const manager = 'all,keys:manage'
const quiet = await newOrganisation('quiet', manager)
const mute = await newOrganisation('mute', manager)
const saved = JSON.stringify({ query: 'select 1' })
await owner.uploader.send('PUT', '/v1/queries/owned', saved)
const withoutName = ({ body, ...answer }: Answer<unknown>): Answer<unknown> => ({
  ...answer,
  body: { ...(body as object), name: '', saved_at: '' },
})
const withoutNext = ({ body, ...answer }: Answer<unknown>): Answer<unknown> => ({
  ...answer,
  body: { ...(body as object), next: '' },
})
const webhookTo = (url: string) => JSON.stringify({ url, events: ['records.accepted'] })
const ownedWebhook = (
  await owner.uploader.send<{ webhook_id: string }>('POST', '/v1/webhooks', webhookTo('http://127.0.0.1:9/owned'))
).body.webhook_id
/** What is asked of one webhook: of the owner's, and of one that is not there. */
const webhookWalk = (method: string, path = '', body?: object): Walk => {
  const ask = (id: string) =>
    uploader.send(method, `/v1/webhooks/${id}${path}`, body === undefined ? undefined : JSON.stringify(body))
  return { foreign: () => ask(ownedWebhook), absent: () => ask(randomUUID()) }
}
/** Asks how often a person is named; the answer without what differs between any two. */
const countNamed = async (who: Organisation, person_id: unknown): Promise<Answer<unknown>> => {
  const asked = JSON.stringify({ person_id, mode: 'erase', dry_run: true })
  const { body, ...answer } = await who.uploader.send<object>('POST', '/v1/erasures', asked)
  return { ...answer, body: { ...body, erasure_id: '', asked_at: '' } }
}
const ownedErasure = (
  await owner.uploader.send<{ erasure_id: string }>(
    'POST',
    '/v1/erasures',
    JSON.stringify({ person_id: randomUUID(), mode: 'erase', dry_run: true }),
  )
).body.erasure_id
const withoutSecret = ({ body, ...answer }: Answer<unknown>): Answer<unknown> => ({
  ...answer,
  body: Object.keys(body as object),
})
const { password: ownersPassword } = await operate<{ password: string }>(['analysts', 'create', '--org', owner.name])
const sqlOf = (password: string) => uploader.send('POST', '/v1/sql', saved, { 'weir-analyst-password': password })
type Days = { days: unknown[] }
/** What an organisation sees on the overview, beside how the parts are. */
const overviewOf = async (who: Organisation): Promise<Answer<unknown>> => {
  const { body, ...answer } = await who.uploader.get<{ freshness: unknown; last_refusals: unknown }>('/v1/overview')
  return { ...answer, body: { freshness: body.freshness, last_refusals: body.last_refusals } }
}
/** What a live stream begins with, without the time. */
const liveOf = async (who: Organisation, path = '/v1/live'): Promise<Answer<unknown>> => {
  const headers = { authorization: `Bearer ${who.key}` }
  const answer = await fetch(`${system.edgeUrl}${path}`, { headers })
  for await (const chunk of answer.body ?? []) {
    const first = Buffer.from(chunk as Uint8Array).toString()
    return { status: answer.status, headers: answer.headers, body: first.replace(/"from":"[^"]+"/, '') }
  }
  throw new Error('a live stream ended before it began')
}
/** What was decided for an organisation in an hour, without when that began. */
const activityOf = async ({ uploader }: Organisation): Promise<Answer<unknown>> => {
  const { body, ...answer } = await uploader.get<{ from: string }>('/v1/activity?span=1h')
  const { from: _, ...counts } = body
  return { ...answer, body: counts }
}
/** What was done with an organisation's keys and records, and for whom. */
const auditOf = async ({ uploader, name }: Organisation): Promise<Answer<unknown>> => {
  const { body, ...answer } = await uploader.get<{ done: { org: string }[] }>('/v1/audit')
  return { ...answer, body: body.done.filter(({ org }) => org !== name) }
}
/** What is wrong with an organisation's own chain where another one's head is asked for. */
const withHead = async (head: string): Promise<Answer<unknown>> => {
  const { body, ...answer } = await quiet.uploader.get<{ problem: unknown }>(`/v1/audit/verification?head=${head}`)
  return { ...answer, body: body.problem }
}
const { head: ownedHead } = await operate<{ head: string }>(['audit', 'verify', '--org', owner.name])
const idOfKey = ({ key }: Organisation): string => key.split('_')[1] ?? ''
const withoutDays = ({ body, ...answer }: Answer<Days>) => ({ ...answer, body: body.days })
const retry = (filter: object) =>
  uploader.send('POST', '/v1/rejections/retry', JSON.stringify({ filter, dry_run: true }))

const { paths } = (await uploader.get<{ paths: Record<string, Record<string, unknown>> }>('/openapi.json')).body
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
)

type Send = (who: Organisation, type: string, record: unknown) => Promise<Answer<unknown>>
const upload: Send = (who, type, record) => who.uploader.upload(type, [record])
const importOne: Send = async ({ key }, type, record) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' }
  const init = { method: 'POST', headers, body: `${JSON.stringify(record)}\n` }
  const answer = await fetch(`${system.edgeUrl}/v1/imports/${type}`, init)
  return { status: answer.status, headers: answer.headers, body: (await answer.text()).split('\n') }
}

/** A record of each type, which refers to what is foreign or absent; of a type without references, under an id that is. */
const recordWalks = (path: string, send: Send): Record<string, Walk> =>
  Object.fromEntries(
    [...catalogue.uploads.values()].map((type): [string, Walk] => [
      `POST ${path}/${type.type}`,
      refers(type)
        ? {
            foreign: () => send(stranger, type.type, recordOf(type, idOfOwned)),
            absent: () =>
              send(
                stranger,
                type.type,
                recordOf(type, () => randomUUID()),
              ),
          }
        : {
            foreign: () => send(copier, type.type, owned.get(type.type)),
            absent: () => send(copier, type.type, sampleOf(type)),
          },
    ]),
  )

const touchWalk = (send: Send): Walk => ({
  foreign: () => send(stranger, interaction.type, touch(ownedShop)),
  absent: () => send(stranger, interaction.type, touch(randomUUID())),
})

const walks: Record<string, Walk> = {
  ...recordWalks('/v1/data', upload),
  ...recordWalks('/v1/imports', importOne),
  'POST /v1/data/interactions': touchWalk(upload),
  'POST /v1/imports/interactions': touchWalk(importOne),
  'POST /user-interactions': {
    foreign: () => uploader.interact(touch(ownedShop)),
    absent: () => uploader.interact(touch(randomUUID())),
  },
  'GET /user-interactions': {
    foreign: () => uploader.get(`/user-interactions?item_id=${ownedShop}`),
    absent: () => uploader.get(`/user-interactions?item_id=${randomUUID()}`),
  },
  'GET /v1/requests/{request_id}': {
    foreign: () => uploader.get(`/v1/requests/${request}`),
    absent: () => uploader.get(`/v1/requests/${randomUUID()}`),
  },
  'GET /v1/rejections': {
    foreign: () => uploader.get(`/v1/rejections?request_id=${refused}`),
    absent: () => uploader.get(`/v1/rejections?request_id=${randomUUID()}`),
  },
  'GET /v1/rejections/summary': {
    foreign: () => uploader.get(`/v1/rejections/summary?request_id=${refused}`),
    absent: () => uploader.get(`/v1/rejections/summary?request_id=${randomUUID()}`),
  },
  'GET /v1/rejections/values': {
    foreign: () => uploader.get(`/v1/rejections/values?type=offers&field=shop_id&request_id=${refused}`),
    absent: () => uploader.get(`/v1/rejections/values?type=offers&field=shop_id&request_id=${randomUUID()}`),
  },
  'GET /v1/find': {
    foreign: () => uploader.get(`/v1/find?id=${refused}`),
    absent: () => uploader.get(`/v1/find?id=${randomUUID()}`),
  },
  'POST /v1/rejections/retry': {
    foreign: () => retry({ request_id: refused }),
    absent: () => retry({ request_id: randomUUID() }),
  },
  'GET /v1/rejections/retries/{request_id}': {
    foreign: () => uploader.get(`/v1/rejections/retries/${retried}`),
    absent: () => uploader.get(`/v1/rejections/retries/${randomUUID()}`),
  },
  'GET /v1/requests': {
    foreign: () => quiet.uploader.get('/v1/requests'),
    absent: () => mute.uploader.get('/v1/requests'),
  },
  'GET /v1/overview': { foreign: () => overviewOf(quiet), absent: () => overviewOf(mute) },
  'GET /v1/live': { foreign: () => liveOf(quiet), absent: () => liveOf(mute) },
  'GET /v1/activity': { foreign: () => activityOf(quiet), absent: () => activityOf(mute) },
  'GET /v1/topics/{topic}/events': {
    foreign: () => quiet.uploader.get('/v1/topics/weir.accepted.shops/events'),
    absent: () => mute.uploader.get('/v1/topics/weir.accepted.shops/events'),
  },
  // That no foreign event follows either, the journey of the console shows.
  'GET /v1/topics/{topic}/events/live': {
    foreign: () => liveOf(quiet, '/v1/topics/weir.accepted.shops/events/live'),
    absent: () => liveOf(mute, '/v1/topics/weir.accepted.shops/events/live'),
  },
  'GET /v1/data/{type}/{id}/journey': {
    foreign: () => uploader.get(`/v1/data/shops/${ownedShop}/journey`),
    absent: () => uploader.get(`/v1/data/shops/${randomUUID()}/journey`),
  },
  // A list goes on behind a key of the owner's as behind none.
  'GET /v1/keys': {
    foreign: () => uploader.get(`/v1/keys?cursor=${writeCursor([idOfKey(owner)])}`),
    absent: () => uploader.get(`/v1/keys?cursor=${writeCursor(['nothing'])}`),
  },
  // Nobody's name but one's own, whatever the owner did.
  'GET /v1/audit': { foreign: () => auditOf(quiet), absent: () => auditOf(mute) },
  'GET /v1/audit/verification': {
    foreign: () => withHead(ownedHead),
    absent: () => withHead('0'.repeat(64)),
  },
  'POST /v1/keys': {
    foreign: () => uploader.send('POST', '/v1/keys', JSON.stringify({ org: owner.name })),
    absent: () => uploader.send('POST', '/v1/keys', JSON.stringify({ org: 'nobody' })),
  },
  'PATCH /v1/keys/{key_id}': {
    foreign: () => uploader.send('PATCH', `/v1/keys/${idOfKey(owner)}`, JSON.stringify({ name: 'mine' })),
    absent: () => uploader.send('PATCH', '/v1/keys/nothing', JSON.stringify({ name: 'mine' })),
  },
  'POST /v1/keys/{key_id}/rotate': {
    foreign: () => uploader.send('POST', `/v1/keys/${idOfKey(owner)}/rotate`, '{}'),
    absent: () => uploader.send('POST', '/v1/keys/nothing/rotate', '{}'),
  },
  'POST /v1/keys/{key_id}/revoke': {
    foreign: () => uploader.send('POST', `/v1/keys/${idOfKey(owner)}/revoke`, '{}'),
    absent: () => uploader.send('POST', '/v1/keys/nothing/revoke', '{}'),
  },
  // Only operators see whether there is such an organisation or key.
  'GET /v1/operator/organisations': {
    foreign: () => uploader.get('/v1/operator/organisations'),
    absent: () => quiet.uploader.get('/v1/operator/organisations'),
  },
  'PUT /v1/operator/organisations/{org}/limits': {
    foreign: () => uploader.send('PUT', `/v1/operator/organisations/${owner.name}/limits`, '{}'),
    absent: () => uploader.send('PUT', '/v1/operator/organisations/nobody/limits', '{}'),
  },
  'GET /v1/operator/figures': {
    foreign: () => uploader.get(`/v1/operator/figures?prefix=${owner.name}`),
    absent: () => uploader.get('/v1/operator/figures?prefix=nobody'),
  },
  'GET /v1/operator/system': {
    foreign: () => uploader.get('/v1/operator/system'),
    absent: () => quiet.uploader.get('/v1/operator/system'),
  },
  'GET /v1/operator/keys': {
    foreign: () => uploader.get(`/v1/operator/keys?org=${owner.name}`),
    absent: () => uploader.get('/v1/operator/keys?org=nobody'),
  },
  'POST /v1/operator/keys': {
    foreign: () => uploader.send('POST', '/v1/operator/keys', JSON.stringify({ org: owner.name })),
    absent: () => uploader.send('POST', '/v1/operator/keys', JSON.stringify({ org: 'nobody' })),
  },
  'PATCH /v1/operator/keys/{key_id}': {
    foreign: () => uploader.send('PATCH', `/v1/operator/keys/${idOfKey(owner)}`, '{}'),
    absent: () => uploader.send('PATCH', '/v1/operator/keys/nothing', '{}'),
  },
  'GET /v1/operator/audit': {
    foreign: () => uploader.get(`/v1/operator/audit?org=${owner.name}`),
    absent: () => uploader.get('/v1/operator/audit?org=nobody'),
  },
  'GET /v1/operator/audit/verification': {
    foreign: () => uploader.get(`/v1/operator/audit/verification?org=${owner.name}`),
    absent: () => uploader.get('/v1/operator/audit/verification?org=nobody'),
  },
  'POST /v1/operator/keys/{key_id}/rotate': {
    foreign: () => uploader.send('POST', `/v1/operator/keys/${idOfKey(owner)}/rotate`, '{}'),
    absent: () => uploader.send('POST', '/v1/operator/keys/nothing/rotate', '{}'),
  },
  'POST /v1/operator/keys/{key_id}/revoke': {
    foreign: () => uploader.send('POST', `/v1/operator/keys/${idOfKey(owner)}/revoke`, '{}'),
    absent: () => uploader.send('POST', '/v1/operator/keys/nothing/revoke', '{}'),
  },
  'GET /v1/quality': {
    // Nobody but the quiet one has sent nothing at all today: it sees as little as on a day before there was Weir.
    foreign: async () => withoutDays(await quiet.uploader.get<Days>('/v1/quality')),
    absent: async () => withoutDays(await quiet.uploader.get<Days>('/v1/quality?from=2020-01-01&to=2020-01-01')),
  },
  'GET /v1/marts/{mart}': {
    foreign: () => martOf(stranger, `/v1/marts/sales_by_day?shop_id=${ownedShop}`),
    absent: () => martOf(stranger, `/v1/marts/sales_by_day?shop_id=${randomUUID()}`),
  },
  // The stranger has tried to upload records that name the owner's customer, and so has refused ones that do.
  'GET /v1/erasures': {
    foreign: () => quiet.uploader.get('/v1/erasures'),
    absent: () => uploader.get('/v1/erasures'),
  },
  'GET /v1/erasures/{erasure_id}': {
    foreign: () => quiet.uploader.get(`/v1/erasures/${ownedErasure}`),
    absent: () => quiet.uploader.get(`/v1/erasures/${randomUUID()}`),
  },
  // Asked for by another organisation, a person of the owner's is somebody whom nobody knows.
  'POST /v1/erasures': {
    foreign: () => countNamed(mute, owned.get('customers')?.customer_id),
    absent: () => countNamed(mute, randomUUID()),
  },
  'GET /v1/persons/{id}/export': {
    foreign: () => quiet.uploader.get(`/v1/persons/${owned.get('customers')?.customer_id}/export`),
    absent: () => quiet.uploader.get(`/v1/persons/${randomUUID()}/export`),
  },
  // The analyst of the owner, with its password, is no analyst of the stranger's.
  'POST /v1/sql': {
    foreign: () => sqlOf(ownersPassword),
    absent: () => sqlOf('nobodys-password'),
  },
  'GET /v1/queries': {
    foreign: () => quiet.uploader.get('/v1/queries'),
    absent: () => mute.uploader.get('/v1/queries'),
  },
  // A name that the owner has is as free as any other.
  'PUT /v1/queries/{name}': {
    foreign: async () => withoutName(await uploader.send('PUT', '/v1/queries/owned', saved)),
    absent: async () => withoutName(await uploader.send('PUT', '/v1/queries/other', saved)),
  },
  'DELETE /v1/queries/{name}': {
    foreign: () => copier.uploader.send('DELETE', '/v1/queries/owned'),
    absent: () => copier.uploader.send('DELETE', '/v1/queries/nothing'),
  },
  // The owner has shops, and whose feed it is comes from the key alone.
  'GET /v1/feeds/{type}': {
    foreign: async () => withoutNext(await quiet.uploader.get('/v1/feeds/shops')),
    absent: async () => withoutNext(await mute.uploader.get('/v1/feeds/shops')),
  },
  'GET /v1/feeds': {
    foreign: async () => withoutNext(await quiet.uploader.get('/v1/feeds?types=all')),
    absent: async () => withoutNext(await mute.uploader.get('/v1/feeds?types=all')),
  },
  // Nobody is told whether another organisation sends to the same address.
  'POST /v1/webhooks': {
    foreign: async () =>
      withoutSecret(await uploader.send('POST', '/v1/webhooks', webhookTo('http://127.0.0.1:9/owned'))),
    absent: async () =>
      withoutSecret(await uploader.send('POST', '/v1/webhooks', webhookTo('http://127.0.0.1:9/other'))),
  },
  'GET /v1/webhooks': {
    foreign: () => quiet.uploader.get('/v1/webhooks'),
    absent: () => mute.uploader.get('/v1/webhooks'),
  },
  'GET /v1/webhooks/{webhook_id}': webhookWalk('GET'),
  'PATCH /v1/webhooks/{webhook_id}': webhookWalk('PATCH', '', { enabled: false }),
  'DELETE /v1/webhooks/{webhook_id}': webhookWalk('DELETE'),
  'POST /v1/webhooks/{webhook_id}/rotate': webhookWalk('POST', '/rotate', {}),
  'POST /v1/webhooks/{webhook_id}/test': webhookWalk('POST', '/test'),
  'GET /v1/webhooks/{webhook_id}/deliveries': webhookWalk('GET', '/deliveries'),
  'POST /v1/webhooks/{webhook_id}/replay': webhookWalk('POST', '/replay', { delivery_id: 'msg_1' }),
  'GET /v1/waiting': {
    // The owner waits for a shop, and for no tag.
    foreign: () => uploader.get('/v1/waiting?type=shops'),
    absent: () => uploader.get('/v1/waiting?type=tags'),
  },
  'GET /v1/waiting/records': {
    foreign: () => uploader.get(`/v1/waiting/records?${behind(missingShop)}`),
    absent: () => uploader.get(`/v1/waiting/records?${behind(randomUUID())}`),
  },
  'POST /v1/waiting/cancel': {
    foreign: () => cancel(missingShop),
    absent: () => cancel(randomUUID()),
  },
}
/** For operators, without a key: they know of no organisation at all. */
const open = ['GET /healthz', 'GET /readyz', 'GET /metrics']
/** With any key: the same for everybody, but for whose key it is. */
const common = ['GET /v1/me', 'GET /v1/types', 'GET /v1/topics', 'GET /v1/marts']

it('has a case for every route that the service documents', () => {
  expect([...Object.keys(walks), ...open, ...common].sort()).toEqual(operations.sort())
})

describe('what is foreign looks like what is absent', () => {
  it.each(Object.entries(walks))('%s', async (_, { foreign, absent }) => {
    // A moment behind: until the owner's interactions can be read, there is nothing foreign to find.
    await eventually(async () => {
      const { body } = await owner.uploader.get<{ interactions: unknown[] }>('/user-interactions')
      expect(body.interactions.length).toBeGreaterThan(0)
    })
    expect(faceOf(await foreign())).toEqual(faceOf(await absent()))
  })

  it('an Idempotency-Key that the owner used', async () => {
    const upload = (key: string) => uploader.upload('shops', [sampleOf(shop)], { 'idempotency-key': key })
    const key = randomUUID()
    await owner.uploader.upload('shops', [sampleOf(shop)], { 'idempotency-key': key })
    expect(faceOf(await upload(key))).toEqual(faceOf(await upload(randomUUID())))
  })

  // Whose rows a mart shows is the same line of each view; test/schemas/marts holds every mart to it in every run.
  it.each(sized(marts.slice(0, 1), marts))('the owner’s rows of $name', async ({ name, asked }) => {
    const path = `/v1/marts/${name}?${new URLSearchParams(asked)}`
    // The owner's records are there by then, so that there is something to be kept apart.
    const shops = '/v1/marts/shops_overview'
    await eventually(async () =>
      expect((await owner.uploader.get<{ rows: unknown[] }>(shops)).body.rows.length).toBeGreaterThan(0),
    )
    const { status, body } = await martOf(quiet, path)
    expect([status, body]).toEqual([200, [[], false]])
  })

  it('a page of the owner’s interactions', async () => {
    await owner.uploader.interact(touch(ownedShop))
    const cursor = await eventually(async () => {
      const { body } = await owner.uploader.get<{ next_cursor: string }>('/user-interactions?limit=1')
      expect(body.next_cursor).toEqual(expect.any(String))
      return body.next_cursor
    })
    const { body } = await uploader.get(`/user-interactions?limit=1&cursor=${encodeURIComponent(cursor)}`)
    expect(body).toEqual({ interactions: [], next_cursor: null })
  })
})

describe('nothing but the key says whose request it is', () => {
  const names = ['x-org-id', 'x-organisation', 'x-tenant-id', 'org-id', 'org', 'x-forwarded-user']
  const headers = Object.fromEntries(names.map((name) => [name, owner.name]))

  it('no header and no parameter', async () => {
    const record = sampleOf(shop)
    const body = JSON.stringify({ records: [record] })
    const query = `org=${owner.name}&org_id=${owner.name}`
    expect((await uploader.send('POST', '/v1/data/shops', body, headers)).status).toBe(200)
    await eventually(async () => {
      const rows = await analyst.query(`select org_id from weir.shops_log where shop_id = {id:UUID}`, {
        id: record.shop_id,
      })
      expect(rows).toEqual([{ org_id: stranger.name }])
    })
    expect((await uploader.send('GET', `/v1/requests/${request}?${query}`, undefined, headers)).status).toBe(404)
    const { status, body: listed } = await uploader.send<{ interactions?: unknown[] }>(
      'GET',
      '/user-interactions',
      undefined,
      headers,
    )
    expect([status, listed.interactions]).toEqual([200, []])
    // Refused rather than passed over: a parameter that does nothing would be taken for one that works.
    expect((await uploader.get(`/user-interactions?org_id=${owner.name}`)).status).toBe(400)
    expect((await uploader.send('POST', `/v1/data/shops?${query}`, body)).status).toBe(400)
  })

  it('no field of a body', async () => {
    const refused = [{ field: 'org_id', code: 'unknown_field' }]
    const { status, body } = await uploader.upload('shops', [sampleOf(shop, { org_id: owner.name })])
    expect(status).toBe(400)
    expect(body.batches[0]?.data.errors).toMatchObject([{ problems: refused }])
    const beside = JSON.stringify({ records: [sampleOf(shop)], org_id: owner.name })
    expect((await uploader.send('POST', '/v1/data/shops', beside)).status).toBe(400)
    const mine = sampleOf(shop)
    await uploader.upload('shops', [mine])
    const answer = await uploader.interact<{ problems: unknown[] }>({
      ...touch(String(mine.shop_id)),
      org_id: owner.name,
    })
    expect([answer.status, answer.body.problems]).toEqual([400, [expect.objectContaining(refused[0] ?? {})]])
  })
})

it('leaves what the owner has as it was, whatever strangers upload under the same ids', async () => {
  for (const [type, record] of owned) expect((await copier.uploader.upload(type, [record])).status, type).toBe(200)
  for (const type of catalogue.uploads.values()) {
    // Both are there, each under its own name, and the owner's is still the one batch that the owner sent.
    await eventually(async () => {
      const rows = await analyst.query<{ org_id: string; batches: number }>(
        `select org_id, uniqExact(batch_id) as batches from weir.${logTableOf(type.type)}
        where ${type.id} = {id:UUID} group by org_id`,
        { id: owned.get(type.type)?.[type.id] },
      )
      const batches = new Map(rows.map((row) => [row.org_id, Number(row.batches)]))
      expect([batches.size, batches.get(owner.name)], type.type).toEqual([2, 1])
    })
  }
})

it.each(open)('%s names no organisation, and is the same for everybody', async (operation) => {
  const path = operation.replace('GET ', '')
  const read = async (key?: string) => {
    const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
    const answer = await fetch(`${system.edgeUrl}${path}`, { headers })
    return { status: answer.status, text: await answer.text() }
  }
  const answers = [await read(), await read(owner.key), await read(stranger.key)]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  for (const { text } of answers) for (const { name } of [owner, stranger, copier]) expect(text).not.toContain(name)
})

function idOfOwned(to: string): unknown {
  return owned.get(to)?.[catalogue.uploads.get(to)?.id ?? '']
}

function refers(type: RecordType): boolean {
  return Object.values(type.fields).some(({ kind }) => kind === 'reference')
}

/** A record whose references are chosen by the type they refer to. */
function recordOf(type: RecordType, idOf: (to: string) => unknown): Record<string, unknown> {
  const references = Object.entries(type.fields).flatMap(([name, field]) =>
    field.kind === 'reference' ? [[name, idOf(field.to)]] : [],
  )
  return sampleOf(type, { ...Object.fromEntries(references), is_deleted: false })
}

/** An answer without what is different each time: ids and moments. */
const faceOf = ({ status, headers, body }: Answer<unknown>) => ({
  status,
  headers: [...headers.keys()].sort(),
  body: JSON.stringify(body)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'an id')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a moment'),
})
