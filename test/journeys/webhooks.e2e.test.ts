import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { kill, pidOf } from '../support/system/processes.js'
import { newOrganisation, operate } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'
import { type Answering, startReceiver } from '../support/webhook-receiver.js'

// The form of it all on a whole system, and that nothing is lost when the process that delivers is killed; what it may connect to and how
// it tries again hold test/services/platform/outgoing and test/services/delivery.

const org = await newOrganisation('webhooks')
const everything = ['records.accepted', 'request.completed', 'rejections.digest', 'waiting.expired']
type Made = { webhook_id: string; secret: string }
const post = <T>(path: string, body: object) => org.uploader.send<T>('POST', path, JSON.stringify(body))
const open = async (answering?: () => Answering) => {
  const receiver = await startReceiver(answering)
  onTestFinished(receiver.close)
  return receiver
}
const create = async (url: string, events = everything): Promise<Made> => {
  const { status, body } = await post<Made>('/v1/webhooks', { url, events })
  expect(status, JSON.stringify(body)).toBe(201)
  onTestFinished(async () => void (await org.uploader.send('DELETE', `/v1/webhooks/${body.webhook_id}`)))
  return body
}
type Shown = { type: string; id: string; version: number }
type Receiver = Awaited<ReturnType<typeof startReceiver>>
const eventsAt = (receiver: Receiver): Shown[] =>
  receiver.taken('records.accepted').flatMap(({ data }) => data.events as Shown[])

it('tells of what happens, signed so that a library that is not ours takes it', async () => {
  const receiver = await open()
  const { webhook_id, secret } = await create(receiver.url)
  const given = sampleOf(shop)
  const { body } = await org.uploader.upload('shops', [given, sampleOf(shop, { region: 'nowhere' })])
  await eventually(() => {
    expect(eventsAt(receiver).map(({ id }) => id)).toEqual([given.shop_id])
    const completed = receiver.taken('request.completed').map(({ data }) => data)
    expect(completed).toContainEqual(
      expect.objectContaining({ request_id: body.request_id, status: 'partial', accepted: 1, refused: 1 }),
    )
    const [digest] = receiver.taken('rejections.digest')
    expect(digest?.data).toMatchObject({ refused: 1, groups: [{ type: 'shops', records: 1 }] })
  })

  const verifier = new Webhook(secret)
  for (const { text, headers } of receiver.received) verifier.verify(text, headers as Record<string, string>)
  const rotated = await post<Made>(`/v1/webhooks/${webhook_id}/rotate`, { grace_seconds: 3600 })
  const { body: test } = await post<{ delivery_id: string }>(`/v1/webhooks/${webhook_id}/test`, {})
  await eventually(() => expect(receiver.taken('test')).toHaveLength(1))
  const [sent] = receiver.received.filter(({ id }) => id === test.delivery_id)
  for (const each of [secret, rotated.body.secret])
    new Webhook(each).verify(sent?.text ?? '', sent?.headers as Record<string, string>)

  const log = await org.uploader.get<{ deliveries: { event: string; state: string; delivery_id: string }[] }>(
    `/v1/webhooks/${webhook_id}/deliveries`,
  )
  expect(new Set(log.body.deliveries.map(({ event }) => event))).toEqual(new Set([...everything.slice(0, 3), 'test']))
  const page = log.body.deliveries.find(({ event }) => event === 'records.accepted')
  const before = receiver.received.filter(({ id }) => id === page?.delivery_id)
  await post(`/v1/webhooks/${webhook_id}/replay`, { delivery_id: page?.delivery_id })
  // The same again, under the same id, made anew from the log.
  await eventually(() => {
    const all = receiver.received.filter(({ id }) => id === page?.delivery_id)
    expect(all).toHaveLength(before.length + 1)
    expect(all.at(-1)?.body.data).toEqual(all[0]?.body.data)
  })
})

itDeep('tells of records that waited in vain, with the request that they came in', async () => {
  const receiver = await open()
  await create(receiver.url, ['waiting.expired'])
  const edge = await startEdge({ MIN_WAIT_SECONDS: '1', LOG_LEVEL: 'warn' })
  onTestFinished(edge.stop)
  const { upload } = createUploader(edge.url, org.key)
  const waits = sampleOf(offer, { shop_id: randomUUID() })
  const { body } = await upload('offers?missing_references=wait&wait_for=1s', [waits])
  await eventually(() => {
    const [expired] = receiver.taken('waiting.expired')
    const record = { type: 'offers', id: waits.offer_id, request_id: body.request_id, index: 0 }
    expect(expired?.data).toMatchObject({ records: [record] })
  }, 60_000)
})

it('loses nothing when the process that delivers is killed, and no receiver waits for another', async () => {
  const silent = await open(() => 'nothing')
  const healthy = await open()
  await create(silent.url, ['records.accepted'])
  await create(healthy.url, ['records.accepted', 'request.completed'])
  const shops = Array.from({ length: 9 }, (_, n) => sampleOf(shop, { name: `shop ${n}` }))
  const ids = shops.map(({ shop_id }) => shop_id).sort()
  const found = (receiver: Receiver) => eventsAt(receiver).map(({ id }) => id)
  for (const one of shops.slice(0, 3)) await org.uploader.upload('shops', [one])
  // The other one has its delivery for all that time, and answers nothing.
  await eventually(() => {
    expect(silent.received.length).toBeGreaterThan(0)
    expect(found(healthy)).toHaveLength(3)
  })
  const killed = kill('delivery')
  for (const one of shops.slice(3)) await org.uploader.upload('shops', [one])
  await eventually(() => expect(pidOf('delivery')).not.toBe(killed), 60_000)
  silent.answer(() => 200)
  await eventually(() => {
    for (const receiver of [silent, healthy]) expect([...new Set(found(receiver))].sort()).toEqual(ids)
    expect(healthy.taken('request.completed')).toHaveLength(9)
  }, 120_000)
  // What was under way at the kill came again as the same delivery.
  const [first] = silent.received
  const again = silent.received.filter(({ id }) => id === first?.id)
  expect(again.length).toBeGreaterThan(1)
  expect(new Set(again.map(({ text }) => text)).size).toBe(1)
})

it('refuses addresses that are not public, and goes on where it stopped once it is enabled again', async () => {
  for (const url of [
    'http://10.1.2.3/x',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'http://8.8.8.8/',
    'ftp://x',
  ])
    expect((await post('/v1/webhooks', { url, events: everything })).status, url).toBe(400)

  const receiver = await open(() => 410)
  const { webhook_id } = await create(receiver.url, ['records.accepted'])
  const path = `/v1/webhooks/${webhook_id}`
  const first = sampleOf(shop)
  await org.uploader.upload('shops', [first])
  await eventually(async () =>
    expect((await org.uploader.get(path)).body).toMatchObject({ enabled: false, disabled_reason: expect.any(String) }),
  )
  const second = sampleOf(shop)
  await org.uploader.upload('shops', [second])
  receiver.answer(() => 200)
  const seenBefore = receiver.received.length
  await operate(['webhooks', 'enable', webhook_id, '--org', org.name])
  await eventually(() => {
    const fresh = receiver.received.slice(seenBefore).flatMap(({ body }) => body.data.events as Shown[])
    expect(fresh.map(({ id }) => id)).toEqual([first.shop_id, second.shop_id])
  })
})
