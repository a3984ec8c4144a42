import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Wait } from '#ledger/waiting/look-up.js'
import { readAfterMissing, readAfterWait, writeAfterMissing, writeAfterWait } from '#query/waiting/question.js'
import { createEdge, startOfTest } from '../../edge/edge.js'

const [near, far] = [randomUUID(), randomUUID()]
const waitOf = (i: number, over: Partial<Wait> = {}): Wait => ({
  orgId: 'acme',
  type: 'offers',
  id: randomUUID(),
  requestId: randomUUID(),
  batchId: randomUUID(),
  place: i,
  index: 500 + i,
  state: 'waiting',
  missing: [{ field: 'shop_id', type: 'shops', id: near }],
  since: new Date(startOfTest + i),
  until: new Date(startOfTest + 1000 - i),
  changedAt: new Date(startOfTest + i),
  problems: null,
  acceptedVersion: null,
  ...over,
})
const iso = (ms: number) => new Date(startOfTest + ms).toISOString()

const createWaiting = () => {
  const edge = createEdge()
  edge.waiting.waits.push(
    ...[1, 2, 3, 4].map((i) => waitOf(i)),
    waitOf(0, { missing: [{ field: 'shop_id', type: 'shops', id: far }] }),
    waitOf(5, { type: 'shop-tags', missing: [{ field: 'tag_id', type: 'tags', id: near }] }),
    waitOf(6, { state: 'accepted' }),
    waitOf(7, { orgId: 'other' }),
  )
  edge.callers.set('reading-key', { orgId: 'acme', keyId: 'k4', scopes: ['waiting:read'] })
  edge.callers.set('ending-key', { orgId: 'acme', keyId: 'k5', scopes: ['waiting:write'] })
  return edge
}

describe('what is waited for', () => {
  it('is told with how many wait behind it, the oldest first, an organisation its own', async () => {
    const { send, waiting } = createWaiting()
    const { status, body } = await send('GET', '/v1/waiting')
    expect([status, body.waiting, body.next_cursor]).toEqual([200, 6, null])
    expect(body.missing).toMatchObject([
      { type: 'shops', id: far, waiting: 1, oldest: iso(0), first_until: iso(1000) },
      { type: 'shops', id: near, waiting: 4, oldest: iso(1), first_until: iso(996) },
      { type: 'tags', id: near, waiting: 1, oldest: iso(5), first_until: iso(995) },
    ])
    const [first] = waiting.waits
    expect(body.missing[1].sample).toHaveLength(3)
    expect(body.missing[1].sample[0]).toEqual({
      type: 'offers',
      id: first?.id,
      field: 'shop_id',
      request_id: first?.requestId,
      index: 501,
      until: iso(999),
    })
    expect((await send('GET', '/v1/waiting', undefined, { authorization: 'Bearer other-key' })).body.waiting).toBe(1)
  })

  it('is told page by page, and by type', async () => {
    const { send } = createWaiting()
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await send('GET', `/v1/waiting?limit=1${cursor}`)
      seen.push(...body.missing.map((one: { type: string; id: string }) => `${one.type}/${one.id}`))
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual([`shops/${far}`, `shops/${near}`, `tags/${near}`])
    expect((await send('GET', '/v1/waiting?type=tags')).body.missing).toHaveLength(1)
  })
})

describe('the records that wait', () => {
  it('are listed page by page, by all filters', async () => {
    const { send, waiting } = createWaiting()
    const all: number[] = []
    for (let cursor = ''; ; ) {
      const { body } = await send('GET', `/v1/waiting/records?limit=4${cursor}`)
      all.push(...body.records.map((one: { index: number }) => one.index))
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(all).toEqual([500, 501, 502, 503, 504, 505])
    const count = async (query: string) => (await send('GET', `/v1/waiting/records?${query}`)).body.records.length
    expect(await count('type=shop-tags')).toBe(1)
    expect(await count(`id=${waiting.waits[1]?.id.toUpperCase()}`)).toBe(1)
    expect(await count(`missing_type=shops&missing_id=${near}`)).toBe(4)
    expect(await count(`missing_type=tags&missing_id=${far}`)).toBe(0)
    const { body } = await send('GET', `/v1/waiting/records?id=${waiting.waits[0]?.id}`)
    expect(body.records).toEqual([
      {
        type: 'offers',
        id: waiting.waits[0]?.id,
        request_id: waiting.waits[0]?.requestId,
        batch_id: waiting.waits[0]?.batchId,
        index: 501,
        for: [{ field: 'shop_id', type: 'shops', id: near }],
        since: iso(1),
        until: iso(999),
      },
    ])
  })

  it('wait no longer once that is cancelled', async () => {
    const { send, waiting } = createWaiting()
    const cancel = async (body: object) => (await send('POST', '/v1/waiting/cancel', body)).body
    expect(await cancel({ type: 'offers', id: waiting.waits[0]?.id })).toEqual({
      cancelled: 1,
      left: 0,
      complete: true,
    })
    expect(await cancel({ type: 'offers', id: waiting.waits[0]?.id })).toEqual({
      cancelled: 0,
      left: 0,
      complete: true,
    })
    expect(await cancel({ missing_type: 'shops', missing_id: near })).toEqual({ cancelled: 3, left: 0, complete: true })
    expect(waiting.waits.filter(({ state }) => state === 'waiting')).toHaveLength(3)
  })

  it('are left, and said to be, where they are being decided', async () => {
    const { send, waiting } = createWaiting()
    const cancel = async () =>
      (await send('POST', '/v1/waiting/cancel', { missing_type: 'shops', missing_id: near })).body
    const [decided] = waiting.waits.filter(({ missing }) => missing.some(({ id }) => id === near))
    if (decided) waiting.locked.add(decided)
    expect(await cancel()).toEqual({ cancelled: 3, left: 1, complete: false })
    waiting.locked.clear()
    expect(await cancel()).toEqual({ cancelled: 1, left: 0, complete: true })
  })

  it('are cancelled in steps, and one request does not take for ever', async () => {
    const { send, waiting } = createEdge()
    waiting.waits.push(...Array.from({ length: 20_001 }, (_, i) => waitOf(i)))
    const cancel = async () =>
      (await send('POST', '/v1/waiting/cancel', { missing_type: 'shops', missing_id: near })).body
    expect(await cancel()).toEqual({ cancelled: 20_000, left: 1, complete: false })
    expect(await cancel()).toEqual({ cancelled: 1, left: 0, complete: true })
  })
})

describe('a question about waiting records', () => {
  it.each([
    ['/v1/waiting?typ=shops', 'there is no query parameter "typ"; did you mean type?'],
    ['/v1/waiting?type=shop', 'type has no such value; did you mean shops?'],
    ['/v1/waiting?type=interactions', 'type must be one of'],
    ['/v1/waiting?limit=0', 'limit must be an integer from 1 to 1000'],
    ['/v1/waiting?cursor=abc', 'cursor must be the next_cursor of an answer'],
    ['/v1/waiting/records?id=7', 'id must be the id of a record'],
    ['/v1/waiting/records?missing_type=shops', 'missing_type needs missing_id beside it'],
    [`/v1/waiting/records?missing_id=${randomUUID()}`, 'missing_id needs missing_type beside it'],
    ['/v1/waiting/records?type=offers&type=tags', 'type must be one text'],
  ])('%s is refused: %s', async (url, message) => {
    const { status, body } = await createWaiting().send('GET', url)
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)])
  })

  it.each([
    [{}, 'say which'],
    [{ type: 'offers' }, 'say which'],
    [{ id: randomUUID() }, 'say which'],
    [[], 'the body must be a JSON object'],
    [{ type: 'offers', id: 7 }, 'id must be one text'],
    [{ filter: {} }, 'there is no field "filter"'],
    [{ missing_type: 'shops' }, 'missing_type needs missing_id'],
  ])('cancelling %j is refused: %s', async (given, message) => {
    const { send, waiting } = createWaiting()
    const { status, body } = await send('POST', '/v1/waiting/cancel', given)
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)])
    expect(waiting.waits.filter(({ state }) => state === 'cancelled')).toEqual([])
  })

  it('needs its scope', async () => {
    const { send } = createWaiting()
    const by = (key: string) => ({ authorization: `Bearer ${key}` })
    const cancel = { missing_type: 'shops', missing_id: near }
    const statuses = async (key: string) => [
      (await send('GET', '/v1/waiting', undefined, by(key))).status,
      (await send('GET', '/v1/waiting/records', undefined, by(key))).status,
      (await send('POST', '/v1/waiting/cancel', cancel, by(key))).status,
    ]
    expect(await statuses('shops-key')).toEqual([403, 403, 403])
    expect(await statuses('reading-key')).toEqual([200, 200, 403])
    expect(await statuses('ending-key')).toEqual([403, 403, 200])
  })

  it('has cursors that come back as they were written, and knows no others', () => {
    const time = fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
    fc.assert(
      fc.property(time, fc.uuid(), fc.constantFrom('shops', 'shop-tags'), fc.nat(), (since, id, type, place) => {
        const wait = { since, batchId: id, place }
        expect(readAfterWait(writeAfterWait(wait))).toEqual(wait)
        const missing = { oldest: since, type, id }
        expect(readAfterMissing(writeAfterMissing(missing))).toEqual(missing)
        expect(readAfterWait(writeAfterMissing(missing))).toBeUndefined()
        expect(readAfterMissing(writeAfterWait(wait))).toBeUndefined()
      }),
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect([readAfterWait(text), readAfterMissing(text)]).toEqual([undefined, undefined])
      }),
    )
  })
})
