import { Readable } from 'node:stream'
import { afterEach, expect, it } from 'vitest'
import { createReads } from '#query/reads.js'
import type { AnalystQuestion } from '#query/sql/ask-analyst.js'
import { eventually } from '../../../support/eventually.js'
import { createEdge } from '../../edge/edge.js'

// Over a real connection, with a ClickHouse that answers as it is told: what becomes of a download that does not end well.

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const withAnswer = async (pieces: () => Generator<string>, format = 'CSVWithNames') => {
  const asked: AnalystQuestion[] = []
  let stream = Readable.from([])
  const edge = createEdge({
    sqlReads: createReads(200, 'the tables', { atOnce: 1, ofOne: 1 }),
    askAnalyst: async (question) => {
      asked.push(question)
      stream = Readable.from(pieces(), { objectMode: false, highWaterMark: 16_384 })
      return { format, rowsRead: undefined, bytesRead: undefined, exceptionTag: undefined, stream }
    },
  })
  const url = await edge.app.listen({ port: 0, host: '127.0.0.1' })
  closing.push(() => edge.app.close())
  const post = (accept = 'text/csv', init: RequestInit = {}) =>
    fetch(`${url}/v1/sql`, {
      method: 'POST',
      headers: {
        authorization: 'Bearer acme-key',
        'weir-analyst-password': 'secret',
        'content-type': 'application/json',
        accept,
      },
      body: JSON.stringify({ query: 'select 1' }),
      ...init,
    })
  return { ...edge, asked, post, streamNow: () => stream }
}

const error = 'Code: 159. DB::Exception: Timeout exceeded. (TIMEOUT_EXCEEDED) (version 24.8.1 (official build))\n'

it('cuts a download off where ClickHouse failed in the middle, so that no file looks whole', async () => {
  const { post, lines } = await withAnswer(function* () {
    yield `"a"\n${'1\n'.repeat(50_000)}`
    yield error
  })
  const answer = await post()
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow()
  expect(JSON.stringify(lines)).not.toContain('secret')
})

it('answers an error that came behind rows as an error', async () => {
  const format = 'JSONCompactEachRowWithNamesAndTypes'
  const { post } = await withAnswer(function* () {
    yield '["a"]\n["UInt8"]\n[1]\n'
    yield error
  }, format)
  expect((await post('application/json')).status).toBe(504)
})

it('reads no more than the caller takes, ends the query when the caller goes, and keeps its turn until then', async () => {
  let made = 0
  const { post, streamNow } = await withAnswer(function* () {
    for (; made < 5_000; made += 1) yield 'x'.repeat(65_536)
  })
  const gone = new AbortController()
  const answer = await post('text/csv', { signal: gone.signal })
  // What fits into the buffers on the way is read, and then nothing more until somebody takes some of it.
  const settled = async (): Promise<number> => {
    const before = made
    await new Promise((resolve) => setTimeout(resolve, 200))
    return made === before ? made : settled()
  }
  expect(await settled()).toBeLessThan(1_000)
  expect((await post()).status).toBe(503)
  gone.abort()
  await answer.body?.cancel().catch(() => undefined)
  await eventually(async () => expect(streamNow().destroyed).toBe(true))
  await eventually(async () => {
    const next = new AbortController()
    const { status } = await post('text/csv', { signal: next.signal })
    next.abort()
    expect(status).toBe(200)
  })
})

it('asks nothing of ClickHouse for a key without the scope, or without a password', async () => {
  const { send, asked } = await withAnswer(function* () {})
  const body = { query: 'select 1' }
  const narrow = { authorization: 'Bearer shops-key', 'weir-analyst-password': 'secret' }
  expect((await send('POST', '/v1/sql', body, narrow)).status).toBe(403)
  expect((await send('POST', '/v1/sql', body)).status).toBe(400)
  expect((await send('POST', '/v1/sql', body, { 'weir-analyst-password': 'a b' })).status).toBe(400)
  expect((await send('POST', '/v1/sql', { ...body, limit: 10_001 }, { 'weir-analyst-password': 'x' })).status).toBe(400)
  expect(asked).toEqual([])
})
