import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ListedRequest } from '#ledger/latest/requests.js'
import type { ListRequests } from '#query/requests.js'
import { createEdge } from '../edge/edge.js'

type Row = ListedRequest & { org: string }

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
const isAfter = (one: Row, after: { at: Date; requestId: string }) =>
  one.at < after.at || (one.at.getTime() === after.at.getTime() && one.requestId < after.requestId)
const newestFirst = (a: Row, b: Row) => b.at.getTime() - a.at.getTime() || (a.requestId < b.requestId ? 1 : -1)

/** Postgres, over an array. */
const listOf =
  (rows: Row[]): ListRequests =>
  async ({ orgId, types, after, most }) =>
    rows
      .filter((one) => one.org === orgId && types.includes(one.type) && (!after || isAfter(one, after)))
      .sort(newestFirst)
      .slice(0, most)

let rows: Row[] = []
const { send } = createEdge({
  requestLists: {
    decided: (asked) => listOf(rows.filter(({ decided }) => decided > 0))(asked),
    pending: (asked) => listOf(rows.filter(({ decided }) => decided === 0))(asked),
  },
})

const statusOf = ({ batches, decided, accepted, refused, waiting, undecided }: Row): string => {
  if (decided < batches) return 'pending'
  if (waiting > 0) return 'waiting'
  const others = { accepted: refused + undecided, refused: accepted + undecided }
  return others.accepted === 0 ? 'accepted' : others.refused === 0 ? 'refused' : 'partial'
}

const anyRow = fc.record({
  org: fc.constantFrom('acme', 'acme', 'other'),
  type: fc.constantFrom('shops', 'offers', 'interactions'),
  at: fc.integer({ min: 1, max: 5 }).map((n) => new Date(n * 1000)),
  batches: fc.integer({ min: 1, max: 2 }),
  decided: fc.integer({ min: 0, max: 2 }),
  accepted: fc.integer({ min: 0, max: 1 }),
  refused: fc.integer({ min: 0, max: 1 }),
  waiting: fc.integer({ min: 0, max: 1 }),
  undecided: fc.integer({ min: 0, max: 1 }),
})

it('pages through exactly what was asked for, newest first, of one organisation', async () => {
  const filter = fc.record(
    {
      status: fc.constantFrom('accepted', 'partial', 'refused', 'pending', 'waiting'),
      type: fc.constantFrom('shops', 'interactions'),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRow, { maxLength: 30 }),
      filter,
      fc.integer({ min: 1, max: 7 }),
      async (given, asked, limit) => {
        rows = given.map(
          (one, i): Row => ({ ...one, requestId: idOf(i), records: null, decided: Math.min(one.decided, one.batches) }),
        )
        const seen: string[] = []
        for (let cursor: string | null = ''; cursor !== null; ) {
          const query = new URLSearchParams({ ...asked, limit: String(limit), ...(cursor && { cursor }) })
          const { status, body } = await send('GET', `/v1/requests?${query}`)
          expect(status).toBe(200)
          expect(body.requests.length).toBeLessThanOrEqual(limit)
          seen.push(...body.requests.map((one: { request_id: string }) => one.request_id))
          cursor = body.next_cursor
        }
        const expected = rows
          .filter((one) => one.org === 'acme' && (asked.type ? one.type === asked.type : one.type !== 'interactions'))
          .filter((one) => asked.status === undefined || statusOf(one) === asked.status)
          .sort(newestFirst)
        expect(seen).toEqual(expected.map(({ requestId }) => requestId))
      },
    ),
    { numRuns: 30 },
  )
})

it('shows what became of each, and when', async () => {
  const base = { org: 'acme', type: 'shops', batches: 1, records: null, waiting: 0, undecided: 0 }
  rows = [
    { ...base, requestId: idOf(1), at: new Date(2000), decided: 1, accepted: 3, refused: 2 },
    { ...base, requestId: idOf(2), at: new Date(1000), decided: 0, accepted: 0, refused: 0, records: 9 },
    { ...base, requestId: idOf(3), at: new Date(500), decided: 1, accepted: 3, refused: 1, waiting: 4, undecided: 2 },
  ]
  expect((await send('GET', '/v1/requests')).body).toEqual({
    requests: [
      {
        request_id: idOf(1),
        type: 'shops',
        decided_at: '1970-01-01T00:00:02.000Z',
        status: 'partial',
        records: 5,
        accepted: 3,
        refused: 2,
        waiting: 0,
      },
      {
        request_id: idOf(2),
        type: 'shops',
        submitted_at: '1970-01-01T00:00:01.000Z',
        status: 'pending',
        records: 9,
        accepted: 0,
        refused: 0,
        waiting: 0,
      },
      {
        request_id: idOf(3),
        type: 'shops',
        decided_at: '1970-01-01T00:00:00.500Z',
        status: 'waiting',
        records: 10,
        accepted: 3,
        refused: 1,
        waiting: 4,
      },
    ],
    next_cursor: null,
  })
})

it.each([
  'status=done',
  'type=shop',
  'limit=0',
  'limit=201',
  'cursor=x',
  'cursor=WzEsIngiXQ',
  'since=1',
  'type=shops&type=tags',
])('refuses %s', async (query) => {
  expect(await send('GET', `/v1/requests?${query}`)).toMatchObject({ status: 400, body: { problems: [{}] } })
})

it('needs the scope', async () => {
  for (const url of ['/v1/requests', '/v1/overview'])
    expect((await send('GET', url, undefined, { authorization: 'Bearer shops-key' })).status).toBe(403)
})
