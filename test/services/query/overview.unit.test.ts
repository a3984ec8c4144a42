import { expect, it } from 'vitest'
import { createEdge } from '../edge/edge.js'

it('tells in words what works, how fresh each type is and what was refused last', async () => {
  const { send, callers } = createEdge({
    lastAccepted: async (org) => [{ type: 'shops', lastAcceptedAt: org === 'acme' ? new Date(1000) : null }],
    lagOf: () => 2500,
    countWaiting: async (org) => (org === 'acme' ? 7 : 0),
  })
  const mine = await send('GET', '/v1/overview')
  expect(mine).toMatchObject({
    status: 200,
    body: {
      parts: [{ name: 'clickhouse', ok: false, words: expect.stringContaining('uploads go on') }],
      freshness: [{ type: 'shops', last_accepted_at: '1970-01-01T00:00:01.000Z' }],
      last_refusals: [],
      waiting: 7,
    },
  })
  // What is wrong inside is for the operator alone, and so is the lag.
  expect(JSON.stringify(mine.body)).not.toContain('away"')
  expect(mine.body.lag).toBeUndefined()
  const other = await send('GET', '/v1/overview', undefined, { authorization: 'Bearer other-key' })
  expect(other.body.freshness).toEqual([{ type: 'shops', last_accepted_at: null }])
  callers.set('operator-key', { orgId: 'weir', keyId: 'k9', scopes: ['requests:read'], isOperator: true })
  const operator = await send('GET', '/v1/overview', undefined, { authorization: 'Bearer operator-key' })
  expect(operator.body).toMatchObject({
    last_refusals: null,
    lag: expect.arrayContaining([{ type: 'shops', seconds: 2.5 }]),
  })
})

it('shows the rest while refusals cannot be read', async () => {
  const { send, rejections } = createEdge()
  rejections.before = async () => {
    throw new Error('ClickHouse is away')
  }
  expect(await send('GET', '/v1/overview')).toMatchObject({ status: 200, body: { last_refusals: null } })
})

it('counts what was decided in the stretches of a time, long ones from the tables', async () => {
  const asked: [string, { from: Date; until: Date; seconds: number }][] = []
  const count = (from: string) => async (_org: string, stretch: { from: Date; until: Date; seconds: number }) => {
    asked.push([from, stretch])
    const one = { at: stretch.from, type: 'shops', accepted: 2, refused: 1, waiting: 3 }
    return [
      one,
      { ...one, type: 'interactions' },
      { ...one, at: new Date(stretch.until.getTime() - stretch.seconds * 1000) },
    ]
  }
  const { send } = createEdge({ countVerdicts: count('verdicts'), countRows: count('tables') })
  const { body } = await send('GET', '/v1/activity?span=24h')
  expect(body).toMatchObject({ bucket_seconds: 600, from: asked[0]?.[1].from.toISOString() })
  expect(body.accepted).toHaveLength(144)
  expect([body.accepted[0], body.accepted[1], body.accepted.at(-1)]).toEqual([2, 0, 2])
  expect([body.refused[0], body.waiting[0], body.interactions[0], body.interactions.at(-1)]).toEqual([2, 6, 2, 0])
  expect((await send('GET', '/v1/activity?span=90d')).body.accepted).toHaveLength(180)
  expect(asked.map(([from]) => from)).toEqual(['verdicts', 'tables'])
  expect((await send('GET', '/v1/activity?span=2d')).status).toBe(400)
})
