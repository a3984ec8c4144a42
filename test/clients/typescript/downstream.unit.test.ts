import { expect, it } from 'vitest'
import { createWeir, type FeedEvent, WeirError } from '../../../clients/typescript/src/index.js'

const event = (n: number): FeedEvent => ({
  type: 'shops',
  id: `shop-${n}`,
  version: n,
  accepted_at: '2026-01-31T12:00:00.000Z',
  is_deleted: false,
  record: { shop_id: `shop-${n}` },
})

/** A feed of pages with two events each, whose cursors are the numbers of the events. */
const weirOf = (events: number) => {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (input) => {
    const after = new URL(String(input)).searchParams.get('after') ?? 'beginning'
    asked.push(after)
    await new Promise((resolve) => setTimeout(resolve, 1))
    const from = after === 'beginning' ? 0 : Number(after)
    const page = Array.from({ length: Math.min(2, events - from) }, (_, i) => event(from + i))
    return Response.json({ events: page, next: String(from + page.length) })
  }
  return { weir: createWeir({ url: 'http://weir.test', key: 'k', fetch }), asked }
}

it('keeps the cursor of a page once all of its events were taken, and goes on from there', async () => {
  const { weir, asked } = weirOf(5)
  const kept: string[] = []
  const store = { load: () => kept.at(-1), save: (cursor: string) => kept.push(cursor) }
  const reader = weir.feeds.read('shops', { store })
  for await (const { version } of reader) if (version === 3) break
  expect(kept).toEqual(['2'])
  expect(reader.cursor).toBe('2')

  const again: number[] = []
  for await (const { version } of weir.feeds.read('shops', { store, after: 'now' })) again.push(version)
  expect(again).toEqual([2, 3, 4])
  expect(kept).toEqual(['2', '4', '5'])
  expect(asked).toEqual(['beginning', '2', '2', '4', '5'])
})

it('does not lose a page whose cursor could not be kept', async () => {
  const { weir } = weirOf(5)
  const full = new Error('the disk is full')
  const reader = weir.feeds.read('shops', { store: { load: () => undefined, save: () => Promise.reject(full) } })
  const seen: number[] = []
  const reading = (async () => {
    for await (const { version } of reader) seen.push(version)
  })()
  await expect(reading).rejects.toBe(full)
  expect({ seen, cursor: reader.cursor }).toEqual({ seen: [0, 1], cursor: undefined })
})

it('goes on for ever where it may wait', async () => {
  const { weir, asked } = weirOf(1)
  const ending = new AbortController()
  const reading = (async () => {
    for await (const _ of weir.feeds.read('shops', { wait: '30s', signal: ending.signal }))
      setTimeout(() => ending.abort(new Error('enough')), 20)
  })()
  await expect(reading).rejects.toThrow('enough')
  expect(asked.length).toBeGreaterThan(2)
})

const batch = (first: number, refused: object[] = []) =>
  `${JSON.stringify({ batch: first, status: 200, from_line: first, to_line: first, accepted: 1 - refused.length, refused, waiting: [] })}\n`
const summary = `${JSON.stringify({ summary: { request_id: 'r', records: 2, accepted: 1, refused: 1, waiting: 0, complete: true } })}\n`
const refusal = { index: 1, line: 2, id: null, problems: [] }

/** Answers in these pieces; the last attempt whole, each before it cut off. */
const importOf = (...answers: string[][]) => {
  const bodies: string[] = []
  const cancelled: unknown[] = []
  const fetch: typeof globalThis.fetch = async (_, init = {}) => {
    bodies.push(await new Response(init.body).text())
    const pieces = answers.shift() ?? []
    const isLast = answers.length === 0
    const stream = new ReadableStream({
      pull: (controller) => {
        const piece = pieces.shift()
        if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece))
        else if (isLast) controller.close()
        else controller.error(new TypeError('terminated'))
      },
      cancel: (reason) => void cancelled.push(reason),
    })
    return new Response(stream, { status: 200 })
  }
  const { shops } = createWeir({ url: 'http://weir.test', key: 'k', fetch })
  return { shops, bodies, cancelled }
}

it('opens the body of an import anew for each attempt, and reads answers that come in any pieces', async () => {
  const whole = batch(1) + batch(2, [refusal]) + summary
  const { shops, bodies } = importOf([batch(1), batch(2, [refusal]).slice(0, 9)], [whole.slice(0, 70), whole.slice(70)])
  const told: unknown[] = []
  const progress: unknown[] = []
  const result = await shops.import(() => new Blob(['a file']).stream(), {
    format: 'csv',
    onRefused: (refused) => told.push(refused),
    onProgress: ({ settled }) => progress.push(settled),
  })
  expect(result).toEqual({ requestId: 'r', records: 2, accepted: 1, refused: 1, waiting: 0 })
  expect(bodies).toEqual(['a file', 'a file'])
  expect(told).toEqual([{ index: 1, line: 2, problems: [] }])
  expect(progress).toEqual([1, 2])
})

it('reads no more of an answer after a callback of the caller has thrown, and does not try again', async () => {
  const { shops, bodies, cancelled } = importOf([batch(1, [refusal]), batch(2), summary])
  const error = await shops
    .import('a file', {
      format: 'ndjson',
      onRefused: () => {
        throw new Error('no room')
      },
    })
    .catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(WeirError)
  expect(error).toMatchObject({ kind: 'usage', message: 'onRefused failed: Error: no room' })
  expect(bodies).toHaveLength(1)
  expect(cancelled).toHaveLength(1)
})

it('says what an import lacks that was sent without its format', async () => {
  const { weir } = weirOf(0)
  const asFromJavaScript = weir.shops.import as (body: string) => Promise<unknown>
  await expect(asFromJavaScript('{}')).rejects.toMatchObject({
    message: 'there is no format undefined',
    remedy: 'give it as ndjson or csv',
  })
})
