import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReadQuery } from '#http/endpoint.js'
import { interactionReads, readCursor, toInteractionQuery, writeCursor } from '#query/interactions/list-interactions.js'
import { exampleOf } from '#schemas/derive/openapi/record-schema.js'
import { listInteractionsOf } from '#schemas/endpoints/interactions.js'
import { interaction } from '#schemas/records/interaction.js'
import { createEdge, startOfTest } from '../../edge/edge.js'

const readQuery = createReadQuery(listInteractionsOf(interaction), {}, interactionReads(interaction))
const read = (given: object) => {
  const asked = readQuery(given)
  return 'error' in asked ? asked : { query: toInteractionQuery(asked.value as never) }
}
const id = '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'

it('reads a query with the readers of the body', () => {
  expect(
    read({ item_id: id.toUpperCase(), platform: 'WEB', from: '1700000000', to: '2024-01-01T00:00:00Z', limit: '7' }),
  ).toEqual({
    query: { filters: { item_id: id, platform: 'WEB' }, from: 1_700_000_000_000, to: Date.UTC(2024, 0, 1), limit: 7 },
  })
  expect(read({})).toEqual({ query: { filters: {}, limit: 100 } })
})

it('takes back the cursors that it wrote, and no other text', () => {
  fc.assert(
    fc.property(fc.integer(), fc.uuid(), (timestamp, last) => {
      expect(readCursor(writeCursor({ timestamp, id: last }))).toEqual({ timestamp, id: last })
    }),
  )
  const forged = fc.oneof(fc.string(), fc.base64String(), fc.constant(writeCursor({ timestamp: 2 ** 53 - 1, id })))
  fc.assert(
    fc.property(forged, (text) => {
      expect(readCursor(text)).toBeUndefined()
    }),
  )
})

describe('reading', () => {
  const row = (i: number, over: Record<string, unknown> = {}) => ({
    ...exampleOf(interaction),
    recorded_at: new Date(startOfTest).toISOString(),
    org_id: 'acme',
    interaction_id: `00000000-0000-4000-8000-${String((i * 7919) % 100).padStart(12, '0')}`,
    event_timestamp: new Date(startOfTest + Math.floor(i / 4) * 1000).toISOString(),
    platform: i % 2 ? 'WEB' : 'IOS',
    ...over,
  })

  it('gives pages, newest first, none twice and none missing', async () => {
    const { send, interactions } = createEdge()
    interactions.rows.push(...Array.from({ length: 25 }, (_, i) => row(i)), row(99, { org_id: 'other' }))
    const seen: string[] = []
    let address = '/user-interactions?limit=7'
    for (let page = 0; page < 4; page++) {
      const { body } = await send('GET', address)
      seen.push(...body.interactions.map((one: { interaction_id: string }) => one.interaction_id))
      expect(body.next_cursor === null).toBe(page === 3)
      address = `/user-interactions?limit=7&cursor=${body.next_cursor}`
    }
    expect(seen).toHaveLength(25)
    expect(new Set(seen).size).toBe(25)
  })

  it('filters, and says null where a page is the last', async () => {
    const { send, interactions } = createEdge()
    interactions.rows.push(...Array.from({ length: 6 }, (_, i) => row(i)))
    const { body } = await send('GET', '/user-interactions?platform=WEB&limit=3')
    expect([body.interactions.length, body.next_cursor]).toEqual([3, null])
    const from = startOfTest / 1000 + 1
    expect((await send('GET', `/user-interactions?from=${from}`)).body.interactions).toHaveLength(2)
    expect((await send('GET', '/user-interactions?to=2026-01-01T00:00:01Z')).body.interactions).toHaveLength(4)
  })

  it.each([
    'limit=0',
    'limit=1001',
    'limit=1e2',
    'cursor=abc',
    `cursor=${Buffer.from('[1,"x"]').toString('base64url')}`,
    'item_id=x',
    'useer_id=1',
    'platform=FRIDGE',
    'platform=WEB&platform=IOS',
    'from=yesterday',
    'org_id=other',
    '__proto__=1',
  ])('refuses %s', async (query) => {
    const { status, body } = await createEdge().send('GET', `/user-interactions?${query}`)
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'Bad Request', problems: [{ code: expect.any(String) }] })
  })

  it('names the parameter that was meant, and does not say the unknown one back', async () => {
    expect((await createEdge().send('GET', '/user-interactions?useer_id=1')).body.message).toBe(
      'there is an unknown query parameter; did you mean user_id?',
    )
  })
})
