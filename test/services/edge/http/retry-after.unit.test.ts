import { describe, expect, it } from 'vitest'
import { Unavailable } from '#http/request-error.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'

type Edge = ReturnType<typeof createEdge>
const key = { 'idempotency-key': 'once' }
const upload = (edge: Edge, headers = {}, query = '') =>
  edge.send('POST', `/v1/data/shops${query}`, { records: [sampleOf(shop)] }, headers)
const interact = (edge: Edge, headers = {}) => edge.send('POST', '/user-interactions', sampleOf(interaction), headers)
const withoutPostgres = (): Edge => {
  const edge = createEdge()
  edge.store.isAway = true
  return edge
}
const whose = (unknown: 'not published' | 'no verdict yet'): Edge => {
  const edge = createEdge()
  edge.submit.outcome = { unknown }
  return edge
}
const brokenEdge = (): Edge => createEdge({ submit: () => Promise.reject(new Error('broken')) })
const withoutKeys = (): Edge =>
  createEdge({ findCaller: () => Promise.reject(new Unavailable('API keys cannot be checked at the moment')) })

describe('a client that could not be served is told when to retry, and that it may', () => {
  it.each([
    ['a verdict that does not come', 500, () => upload(whose('no verdict yet'))],
    ['Kafka away', 500, () => upload(whose('not published'))],
    ['Kafka away, not waiting', 500, () => upload(whose('not published'), { prefer: 'respond-async' })],
    ['something broken', 500, () => upload(brokenEdge())],
    ['a keyed upload without Postgres', 503, () => upload(withoutPostgres(), key)],
    [
      'an upload that does not wait, without Postgres',
      503,
      () => upload(withoutPostgres(), { prefer: 'respond-async' }),
    ],
    ['a dry run without Postgres', 503, () => upload(withoutPostgres(), {}, '?dry_run=true')],
    ['a key that cannot be checked', 503, () => upload(withoutKeys())],
    ['an interaction without a verdict', 500, () => interact(whose('no verdict yet'))],
    ['an interaction that Kafka did not take', 500, () => interact(whose('not published'))],
    ['a keyed interaction without Postgres', 503, () => interact(withoutPostgres(), key)],
    [
      'a look-up without Postgres',
      503,
      () => withoutPostgres().send('GET', '/v1/requests/00000000-0000-4000-8000-000000000000'),
    ],
  ] as const)('%s', async (_what, expected, send) => {
    const { status, headers, body } = await send()
    expect([status, headers['retry-after']]).toEqual([expected, '5'])
    expect(body.message ?? body.batches[0].data.error).toMatch(/retrying .*is safe/)
  })
})
