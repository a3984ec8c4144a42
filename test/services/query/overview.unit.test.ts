import { expect, it } from 'vitest'
import { createEdge } from '../edge/edge.js'

it('tells in words what works, how fresh each type is and what was refused last', async () => {
  const { send, callers } = createEdge({
    lastAccepted: async (org) => [{ type: 'shops', lastAcceptedAt: org === 'acme' ? new Date(1000) : null }],
    lagOf: () => 2500,
  })
  const mine = await send('GET', '/v1/overview')
  expect(mine).toMatchObject({
    status: 200,
    body: {
      parts: [{ name: 'clickhouse', ok: false, words: expect.stringContaining('uploads go on') }],
      freshness: [{ type: 'shops', last_accepted_at: '1970-01-01T00:00:01.000Z' }],
      last_refusals: [],
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
