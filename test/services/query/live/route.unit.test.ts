import { connect } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import type { VerdictEvent } from '#schemas/events.js'
import { eventually } from '../../../support/eventually.js'
import { createEdge, startOfTest } from '../../edge/edge.js'

const verdict = (over: Partial<VerdictEvent>) =>
  ({
    org_id: 'acme',
    batch_id: 'b',
    decided_at: startOfTest,
    type: 'shops',
    accepted: 3,
    refused: [],
    ...over,
  }) as VerdictEvent

type Edge = ReturnType<typeof createEdge>
const opened: Edge[] = []
const startedEdge = async () => {
  const edge = createEdge()
  opened.push(edge)
  const url = await edge.app.listen({ host: '127.0.0.1', port: 0 })
  return { ...edge, url }
}
afterEach(async () => {
  vi.useRealTimers()
  for (const edge of opened.splice(0)) await edge.app.close()
})

/** Reads events as they come, as the page does: with fetch, since an EventSource cannot send a key. */
const listen = async (url: string, key = 'acme-key') => {
  const ending = new AbortController()
  const answer = await fetch(`${url}/v1/live`, { headers: { authorization: `Bearer ${key}` }, signal: ending.signal })
  const events: { event: string; data: Record<string, unknown> }[] = []
  let isOver = false
  const read = async () => {
    let text = ''
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString()
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, event = '', data = '{}'] = /^event: (\w+)\ndata: (.*)$/.exec(part) ?? []
        if (event) events.push({ event, data: JSON.parse(data) })
      }
    }
  }
  void read()
    .catch(() => {})
    .finally(() => {
      isOver = true
    })
  return { answer, events, close: () => ending.abort(), isOver: () => isOver }
}

it('sends the last 15 minutes, then what is decided, to the organisation that it is of', async () => {
  const { url, activity, decided } = await startedEdge()
  decided.push({
    org: 'acme',
    batchId: 'old',
    at: new Date(startOfTest - 5000),
    type: 'shops',
    accepted: 7,
    refused: 2,
    waiting: 0,
  })
  const [mine, theirs] = [await listen(url), await listen(url, 'other-key')]
  expect(mine.answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  await eventually(async () => expect(mine.events).toHaveLength(1))
  const history = mine.events[0]?.data as {
    bucket_seconds: number
    from: string
    accepted: number[]
    refused: number[]
  }
  expect([history.bucket_seconds, history.accepted.length]).toEqual([5, 180])
  expect([history.accepted[178], history.refused[178]]).toEqual([7, 2])
  expect(Date.parse(history.from)).toBe(startOfTest - 179 * 5000)

  activity.note(verdict({}))
  activity.note(verdict({ batch_id: 'c', type: 'interactions', accepted: 1 }))
  await eventually(async () =>
    expect(mine.events.at(-1)).toEqual({
      event: 'rates',
      data: { at: new Date(startOfTest).toISOString(), accepted: 3, refused: 0, waiting: 0, interactions: 1 },
    }),
  )
  expect(theirs.events.map(({ event }) => event)).toEqual(['history'])
  expect((theirs.events[0]?.data as typeof history | undefined)?.accepted.every((count) => count === 0)).toBe(true)
  mine.close()
  theirs.close()
})

it('gives back the streams of clients that leave before these open', async () => {
  const { url, activity, app } = await startedEdge()
  const { watch } = activity
  const left: string[] = []
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let asked = 0
  activity.watch = async (org) => {
    const own = await watch(org)
    asked++
    await opened
    return {
      ...own,
      leave: () => {
        left.push(org)
        own.leave()
      },
    }
  }
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: 4 }, () => {
    const socket = connect(Number(port), hostname)
    socket.write('GET /v1/live HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer acme-key\r\n\r\n')
    return socket
  })
  await eventually(() => expect(asked).toBe(4))
  for (const socket of sockets) socket.destroy()
  const connections = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)))
  await eventually(async () => expect(await connections()).toBe(0))
  open()
  await eventually(() => expect(left).toHaveLength(4))
  activity.watch = watch
  const four = await Promise.all([1, 2, 3, 4].map(() => listen(url)))
  expect(four.map(({ answer }) => answer.status)).toEqual([200, 200, 200, 200])
})

it('logs nothing strange about a client that leaves', async () => {
  const { url, app, lines } = await startedEdge()
  const stream = await listen(url)
  await eventually(() => expect(stream.events).toHaveLength(1))
  stream.close()
  const connections = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)))
  await eventually(async () => expect(await connections()).toBe(0))
  await fetch(`${url}/v1/me`, { headers: { authorization: 'Bearer acme-key' } })
  await eventually(() => expect(lines.at(-1)?.msg).toBe('request answered'))
  expect(lines.slice(1)).toHaveLength(1)
})

it('needs the scope, and lets a key have four streams', async () => {
  const { url, send } = await startedEdge()
  expect((await send('GET', '/v1/live', undefined, { authorization: 'Bearer shops-key' })).status).toBe(403)
  expect((await send('HEAD', '/v1/live')).status).toBe(200)
  expect((await send('GET', '/v1/live?since=1')).status).toBe(400)
  const four = await Promise.all([1, 2, 3, 4].map(() => listen(url)))
  const fifth = await listen(url)
  expect([fifth.answer.status, fifth.answer.headers.get('retry-after')]).toEqual([429, '5'])
  expect((await listen(url, 'other-key')).answer.status).toBe(200)
  four[0]?.close()
  await eventually(async () => expect((await listen(url)).answer.status).toBe(200))
})

it('ends when its key does', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { url, callers } = await startedEdge()
  const stream = await listen(url)
  vi.advanceTimersByTime(6_000)
  callers.delete('acme-key')
  vi.advanceTimersByTime(6_000)
  await eventually(async () => expect(stream.isOver()).toBe(true))
  expect(stream.events.at(-1)).toEqual({ event: 'end', data: { reason: 'the API key has ended' } })
})

it('ends when the edge stops, which does not wait for it', async () => {
  const { url, app } = await startedEdge()
  const stream = await listen(url)
  await app.close()
  await eventually(async () => expect(stream.isOver()).toBe(true))
  expect(stream.events.at(-1)).toEqual({ event: 'end', data: { reason: 'the server is about to stop' } })
})

it('gives up on a client that does not read', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { url, activity } = await startedEdge()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  socket.on('error', () => {})
  socket.pause()
  socket.write('GET /v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer acme-key\r\n\r\n')
  const watch = await activity.watch('acme')
  const isWatched = () => vi.getTimerCount() > 0
  await eventually(async () => expect(isWatched()).toBe(true))
  // Each second something is decided: in the end more than the sockets on both sides hold, and the edge forgets the stream.
  await eventually(async () => {
    for (let i = 0; i < 5000 && isWatched(); i++) {
      activity.note(verdict({ batch_id: `${Math.random()}`, accepted: 1 }))
      vi.advanceTimersByTime(1_000)
    }
    expect(isWatched()).toBe(false)
  }, 20_000)
  watch.leave()
  socket.resume()
  await closed
})
