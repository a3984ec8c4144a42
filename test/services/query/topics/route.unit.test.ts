import { expect, it } from 'vitest'
import { createTail } from '#query/topics/tail.js'
import { createEdge } from '../../edge/edge.js'

const topic = '/v1/topics/weir.accepted.shops/events'

it('shows an organisation the last events of its own, decoded, and no others', async () => {
  const tail = createTail()
  const bytesOf = (org: string) => Buffer.from(JSON.stringify({ org_id: org, name: org }))
  const message = (offset: number, org: string, written = org) => ({
    offset,
    timestamp: offset * 1000,
    key: `${org}/${offset}`,
    value: bytesOf(written),
  })
  // The third says by its key that it is acme's, and is not.
  tail.add(1, [message(1, 'acme'), message(2, 'other'), message(3, 'acme', 'other'), message(4, 'acme')])
  tail.add(0, [{ ...message(5, 'acme'), value: Buffer.from('{') }])
  let followed = 0
  const { send } = createEdge({
    followers: {
      follow: async () => {
        followed++
        return { tail, leave: () => void followed-- }
      },
    },
    decoders: { decoder: () => async (value: Buffer | null) => JSON.parse(String(value)) },
  })
  const { status, body } = await send('GET', topic)
  expect(status).toBe(200)
  expect(body.events.map(({ offset }: { offset: number }) => offset)).toEqual([1, 4])
  expect(body.events[1]).toEqual({
    partition: 1,
    offset: 4,
    at: '1970-01-01T00:00:04.000Z',
    key: 'acme/4',
    value: { org_id: 'acme', name: 'acme' },
  })
  expect((await send('GET', `${topic}?limit=2`)).body.events).toHaveLength(1)
  const other = await send('GET', topic, undefined, { authorization: 'Bearer other-key' })
  expect(other.body.events.map(({ offset }: { offset: number }) => offset)).toEqual([2])
  expect(followed).toBe(0)

  for (const url of [topic, `${topic}/live`]) {
    expect((await send('GET', url, undefined, { authorization: 'Bearer shops-key' })).status).toBe(403)
    expect((await send('GET', `${url}?x=1`)).status).toBe(400)
    const hidden = url.replace('accepted.shops', 'submitted.shops')
    expect((await send('GET', hidden)).status).toBe(404)
  }
  expect((await send('GET', topic.replace('shops', 'shop'))).body.message).toContain('weir.accepted.shops')
  expect((await send('GET', `${topic}?limit=101`)).status).toBe(400)
})

it('answers a stream at once, also where there is no event yet', async () => {
  const { app } = createEdge()
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const ending = new AbortController()
  const headers = { authorization: 'Bearer acme-key' }
  const answer = await fetch(`${url}${topic}/live`, { headers, signal: ending.signal })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  ending.abort()
  await app.close()
})
