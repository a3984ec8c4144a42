import { expect, it } from 'vitest'
import { writeCursor } from '#feeds/cursor.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { createEdge } from '../../edge/edge.js'

const accepted = (edge: ReturnType<typeof createEdge>, names: readonly string[], org = 'acme') => {
  for (const name of names) {
    edge.feeds.accept(org, shop, { shop_id: `${name}-id`, name, region: 'GB', is_deleted: name === 'gone' })
    edge.wakes.note({ org_id: org, type: 'shops', accepted: 1 })
  }
}
type Page = {
  events: { type: string; id: string; record: Record<string, unknown>; is_deleted: boolean }[]
  next: string
}
const namesOf = ({ events }: Page) => events.map(({ record }) => record.name)

it('hands over pages, one after another, of its own organisation alone', async () => {
  const edge = createEdge()
  accepted(edge, ['a', 'b', 'gone'])
  accepted(edge, ['foreign'], 'other')
  const first = await edge.send('GET', '/v1/feeds/shops?limit=2')
  expect(first.status).toBe(200)
  expect(namesOf(first.body)).toEqual(['a', 'b'])
  expect(first.headers['weir-next-cursor']).toBe(first.body.next)
  const second = await edge.send('GET', `/v1/feeds/shops?limit=2&after=${first.body.next}`)
  expect(second.body.events).toEqual([
    {
      ...{ type: 'shops', id: 'gone-id', version: 2, accepted_at: '2026-01-01T00:00:00.000Z', is_deleted: true },
      record: {
        ...{ shop_id: 'gone-id', name: 'gone', region: 'GB', is_public: null, created: null, updated: null },
        is_deleted: true,
      },
    },
  ])
  const third = await edge.send('GET', `/v1/feeds/shops?after=${second.body.next}`)
  expect(third.body.events).toEqual([])
  expect(namesOf((await edge.send('GET', '/v1/feeds/shops?after=now')).body)).toEqual([])
})

it('takes several types together, those that others refer to first', async () => {
  const edge = createEdge()
  edge.feeds.accept('acme', offer, { offer_id: 'o' })
  edge.feeds.accept('acme', interaction, { interaction_id: 'i' })
  accepted(edge, ['a'])
  const typesIn = async (query: string) =>
    ((await edge.send('GET', `/v1/feeds?${query}`)).body as Page).events.map(({ type }) => type)
  expect(await typesIn('types=offers,shops')).toEqual(['shops', 'offers'])
  expect(await typesIn('types=all')).toEqual(['shops', 'offers', 'interactions'])
})

it('has lines, and containers of one type', async () => {
  const edge = createEdge()
  accepted(edge, ['a', 'b'])
  const lined = await edge.send('GET', '/v1/feeds/shops', undefined, { accept: 'application/x-ndjson' })
  const lines = String(lined.body)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ record, next }) => record?.name ?? typeof next)).toEqual(['a', 'b', 'string'])
  const avro = await edge.send('GET', '/v1/feeds/shops', undefined, { accept: 'application/avro' })
  expect(String(avro.body).startsWith('Obj')).toBe(true)
  const both = await edge.send('GET', '/v1/feeds?types=shops,offers', undefined, { accept: 'application/avro' })
  expect(both).toMatchObject({ status: 400, body: { message: expect.stringContaining('one type') } })
})

it('waits for what comes, and no longer than it was asked to', async () => {
  const edge = createEdge()
  accepted(edge, ['a'])
  const { next } = (await edge.send('GET', '/v1/feeds/shops')).body
  const waiting = edge.send('GET', `/v1/feeds/shops?after=${next}&wait=20s`)
  // Of another type, and of another organisation.
  setTimeout(() => edge.wakes.note({ org_id: 'acme', type: 'offers', accepted: 1 }), 20)
  setTimeout(() => accepted(edge, ['x'], 'other'), 30)
  setTimeout(() => accepted(edge, ['b']), 60)
  expect(namesOf((await waiting).body)).toEqual(['b'])
  const inVain = await edge.send('GET', '/v1/feeds/shops?after=now&wait=1s')
  expect(inVain).toMatchObject({ status: 200, body: { events: [] } })
})

it('reads once for all who wait at one place', async () => {
  const edge = createEdge()
  const { next } = (await edge.send('GET', '/v1/feeds/shops')).body
  const many = Array.from({ length: 50 }, () => edge.send('GET', `/v1/feeds/shops?after=${next}&wait=20s`))
  setTimeout(() => accepted(edge, ['a']), 300)
  for (const { body } of await Promise.all(many)) expect(namesOf(body)).toEqual(['a'])
  expect(edge.feeds.reads()).toBeLessThan(60)
})

it('ends every wait with what there is when the edge stops', async () => {
  const edge = createEdge()
  const waiting = edge.send('GET', '/v1/feeds/shops?wait=50s')
  setTimeout(() => void edge.app.close(), 100)
  expect(await waiting).toMatchObject({ status: 200, body: { events: [] } })
})

it('says what is wrong with a question', async () => {
  const edge = createEdge()
  const foreign = writeCursor('other', { at: 0, positions: new Map([['shops', { generation: 0, next: {} }]]) })
  const ofOffers = writeCursor('acme', { at: 0, positions: new Map([['offers', { generation: 0, next: {} }]]) })
  for (const [path, status, message] of [
    ['/v1/feeds/shop', 404, 'did you mean shops?'],
    ['/v1/feeds?types=shops,ofers', 400, 'did you mean offers?'],
    ['/v1/feeds', 400, 'types must name types'],
    ['/v1/feeds/shops?after=yesterday', 400, 'after must be'],
    ['/v1/feeds/shops?after=2026-13-01', 400, 'after must be'],
    [`/v1/feeds/shops?after=${foreign}`, 400, 'another organisation'],
    [`/v1/feeds/shops?after=${ofOffers}`, 400, 'is of offers'],
    ['/v1/feeds/shops?wait=51s', 400, 'wait must be'],
    ['/v1/feeds/shops?limit=5001', 400, 'limit must be'],
  ] as const) {
    const answer = await edge.send('GET', path)
    expect(answer, path).toMatchObject({ status, body: { message: expect.stringContaining(message) } })
  }
  const noScope = await edge.send('GET', '/v1/feeds/shops', undefined, { authorization: 'Bearer shops-key' })
  expect(noScope.status).toBe(403)
})

it('names where to go on where the log no longer has what comes next', async () => {
  const edge = createEdge()
  accepted(edge, ['a', 'b', 'c'])
  const positions = new Map([['shops', { generation: 0, next: { 0: 1 } }]])
  edge.feeds.forgetBefore(2)
  const after = writeCursor('acme', { at: Date.UTC(2026, 0, 31, 12), positions })
  expect(await edge.send('GET', `/v1/feeds/shops?after=${after}`)).toMatchObject({
    status: 410,
    body: { restart: '2026-01-31T11:59:00.000Z', message: expect.stringContaining('after=2026-01-31T11:59:00.000Z') },
  })
})

it('ends for a key that was revoked while its caller waited', async () => {
  const edge = createEdge()
  const { next } = (await edge.send('GET', '/v1/feeds/shops')).body
  const waiting = edge.send('GET', `/v1/feeds/shops?after=${next}&wait=20s`)
  setTimeout(() => {
    edge.callers.delete('acme-key')
    accepted(edge, ['a'])
  }, 50)
  expect((await waiting).status).toBe(401)
})

it('streams, and goes on behind the last event that was seen', async () => {
  const edge = createEdge()
  accepted(edge, ['a', 'b'])
  const url = await edge.app.listen({ port: 0, host: '127.0.0.1' })
  const read = async (wanted: number, headers: Record<string, string> = {}, onTwo = () => {}) => {
    const ended = new AbortController()
    const answer = await fetch(`${url}/v1/feeds/shops`, {
      headers: { authorization: 'Bearer acme-key', accept: 'text/event-stream', ...headers },
      signal: ended.signal,
    })
    const events: { id: string; name: string }[] = []
    let text = ''
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString()
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const data = lines.find((line) => line.startsWith('data: '))?.slice(6)
        if (data) events.push({ id: lines[0]?.slice(4) ?? '', name: JSON.parse(data).record.name })
        if (data && events.length === 2) onTwo()
      }
      if (events.length >= wanted) break
    }
    ended.abort()
    return events
  }
  // In a page of its own: within a page, a reader that goes on gets some of it again.
  const events = await read(3, {}, () => accepted(edge, ['c']))
  expect(events.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  const again = await read(1, { 'last-event-id': events[1]?.id ?? '' })
  expect(again.map(({ name }) => name)).toEqual(['c'])
  await edge.app.close()
})
