import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createReads } from '#query/reads.js'
import type { KnownRejection } from '#query/rejections/answers.js'
import { eventually } from '../../../support/eventually.js'
import { acme, createEdge } from '../../edge/edge.js'

const rejection = (over: Partial<KnownRejection> = {}): KnownRejection => ({
  batchId: randomUUID(),
  index: 0,
  rejectedAt: new Date('2026-01-01T00:00:00Z'),
  org: 'acme',
  type: 'shops',
  requestId: randomUUID(),
  id: randomUUID(),
  version: 8192,
  problems: [{ field: 'region', code: 'bad_format', message: 'region must be a 2-letter country code, like GB' }],
  record: '{"name":"x"}',
  truncated: false,
  state: 'open',
  retry: undefined,
  currentVersion: null,
  ...over,
})
const gate = () => {
  let open = () => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open: () => open() }
}
const later = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds))

describe('GET /v1/rejections', () => {
  it('shows the record as it was given, its problems and what happened since', async () => {
    const { send, rejections } = createEdge()
    const cut = rejection({ record: '{"name":"xx', truncated: true, rejectedAt: later(2) })
    const retry = {
      retry_id: 'r',
      claimed_at: later(5),
      outcome: null,
      request_id: null,
      answered_at: null,
      order_id: 'o',
    }
    const retried = rejection({ state: 'retried', retry, rejectedAt: later(1) })
    rejections.rows = [rejection({ org: 'other' }), retried, cut]
    const { status, body } = await send('GET', '/v1/rejections')
    expect([status, body.next_cursor]).toEqual([200, null])
    expect(body.rejections).toEqual([
      expect.objectContaining({
        rejection_id: `${cut.batchId}/0`,
        record: '{"name":"xx',
        truncated: true,
        state: 'open',
      }),
      expect.objectContaining({
        record: { name: 'x' },
        rejected_at: '2026-01-01T00:00:01.000Z',
        problems: retried.problems,
        state: 'retried',
        retry: expect.objectContaining({ outcome: 'waiting', retry_request_id: 'o' }),
      }),
    ])
    expect(body.rejections[0]).not.toHaveProperty('retry')
  })

  it('goes on where the page before ended', async () => {
    const { send, rejections } = createEdge()
    rejections.rows = Array.from({ length: 5 }, (_, i) => rejection({ rejectedAt: later(i), index: i }))
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body } = await send('GET', `/v1/rejections?limit=2${cursor && `&cursor=${cursor}`}`)
      seen.push(...body.rejections.map(({ index }: { index: number }) => index))
      cursor = body.next_cursor
    }
    expect(seen).toEqual([4, 3, 2, 1, 0])
  })

  it('refuses a question that could never match, with what was meant', async () => {
    const { send } = createEdge()
    const { status, body } = await send('GET', '/v1/rejections?type=shop')
    expect([status, body.message]).toEqual([400, 'type has no such value; did you mean shops?'])
    expect(body.problems).toEqual([{ field: 'type', code: 'not_one_of', message: body.message }])
  })

  it('answers four questions of one organisation at once, and those of others beside it', async () => {
    const { send, rejections } = createEdge()
    const opened = gate()
    let running = 0
    let most = 0
    rejections.before = async () => {
      most = Math.max(most, ++running)
      await opened.promise
      running--
    }
    const own = Array.from({ length: 10 }, () => send('GET', '/v1/rejections'))
    const other = send('GET', '/v1/rejections', undefined, { authorization: 'Bearer other-key' })
    await eventually(() => expect(running).toBe(5))
    opened.open()
    // The others had to wait, and got their turn.
    expect((await Promise.all([...own, other])).map(({ status }) => status)).toEqual(Array(11).fill(200))
    expect(most).toBe(5)
  })

  it('asks whoever waited for too long to come back', async () => {
    const { send, rejections } = createEdge({ reads: createReads(1_000) })
    const opened = gate()
    let asked = 0
    rejections.before = () => {
      asked++
      return opened.promise
    }
    const running = [1, 2, 3, 4].map(() => send('GET', '/v1/rejections'))
    await eventually(() => expect(asked).toBe(4))
    const fifth = await send('GET', '/v1/quality')
    expect([fifth.status, fifth.headers['retry-after']]).toEqual([503, '5'])
    opened.open()
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await send('GET', '/v1/rejections')).status).toBe(200)
  })

  it.each([
    ['158', 400, 'ask for less'],
    ['210', 503, 'rejections cannot be read at the moment; retrying is safe'],
  ])(
    'tells a question that is too large from a ClickHouse that is away: code %s is a %i',
    async (code, status, message) => {
      const { send, rejections } = createEdge()
      rejections.before = async () => {
        throw Object.assign(new Error('no'), { code })
      }
      const answer = await send('GET', '/v1/rejections/summary')
      expect(answer.status).toBe(status)
      expect(answer.body.message).toContain(message)
    },
  )
})

describe('GET /v1/rejections/summary and /v1/quality', () => {
  it('show what an organisation has, and nothing of others', async () => {
    const { send, rejections } = createEdge()
    rejections.rows = [rejection(), rejection({ rejectedAt: later(9) }), rejection({ org: 'other' })]
    const counts = { type: 'shops', day: '2025-12-31', received: 6, accepted: 1, refused: 2, waiting: 2, undecided: 1 }
    const rest = { top_codes: [{ code: 'bad_format' as const, count: 2 }], last_accepted_at: later(0) }
    rejections.days = [{ org: 'acme', ...counts, ...rest }]
    const other = { authorization: 'Bearer other-key' }
    const { body } = await send('GET', '/v1/rejections/summary')
    expect(body).toMatchObject({
      complete: true,
      groups: [{ type: 'shops', code: 'bad_format', field: 'region', count: 2, sample: { record: { name: 'x' } } }],
    })
    const quality = (await send('GET', '/v1/quality')).body
    expect(quality).toEqual({
      from: '2025-12-03',
      to: '2026-01-01',
      days: [{ ...counts, top_codes: rest.top_codes, last_accepted_at: '2026-01-01T00:00:00.000Z' }],
    })
    expect((await send('GET', '/v1/quality', undefined, other)).body.days).toEqual([])
  })
})

describe('what is asked by state', () => {
  const own = () => {
    const { send, rejections } = createEdge()
    const record = '{"name":"x","region":"UK"}'
    rejections.rows = (['open', 'open', 'retried', 'accepted_since', 'overtaken'] as const).map((state, second) =>
      rejection({ state, record, rejectedAt: later(second) }),
    )
    return send
  }

  it.each([
    ['open', ['open', 'open']],
    ['retried', ['retried']],
    ['resolved', ['overtaken', 'accepted_since']],
    ['overtaken', ['overtaken']],
  ])('lists and groups those that are %s, and counts all', async (state, listed) => {
    const send = own()
    const { body } = await send('GET', `/v1/rejections?state=${state}`)
    expect(body.rejections.map((one: { state: string }) => one.state)).toEqual(listed)
    const summary = (await send('GET', `/v1/rejections/summary?state=${state}`)).body
    expect(summary.groups[0].count).toBe(listed.length)
    expect(summary.states).toEqual({ open: 2, retried: 1, resolved: 2 })
  })

  it('counts the values of a field', async () => {
    const { body } = await own()('GET', '/v1/rejections/values?type=shops&field=region&state=open')
    expect(body).toEqual({ values: [{ value: 'UK', count: 2 }], complete: true })
    const { status } = await own()('GET', '/v1/rejections/values?type=shops')
    expect(status).toBe(400)
  })

  it('shows what a change would make of the first few, and what would still be wrong', async () => {
    const change = { field: 'region', to: 'GB' }
    const { body } = await own()('POST', '/v1/rejections/retry', { filter: { type: 'shops' }, change, dry_run: true })
    expect(body).toMatchObject({ submitted: 2, samples: [{ before: 'UK', after: 'GB' }, { before: 'UK' }] })
    expect(body.samples[0].problems).toEqual([expect.objectContaining({ field: 'shop_id', code: 'missing_field' })])
  })
})

describe('POST /v1/rejections/retry', () => {
  const filter = { type: 'shops' }

  it('notes what is to be submitted, and says where it can be looked up', async () => {
    const { send, rejections } = createEdge()
    rejections.rows = [rejection(), rejection({ state: 'accepted_since' }), rejection({ org: 'other' })]
    const { status, headers, body } = await send('POST', '/v1/rejections/retry', { filter })
    expect([status, headers.location]).toEqual([202, `/v1/rejections/retries/${body.request_id}`])
    expect(body).toMatchObject({
      status: 'running',
      matched: 2,
      submitted: 1,
      skipped: { accepted_since: 1, already_retried: 0, not_kept_whole: 0, over_limit: 0 },
    })
    expect((await send('GET', String(headers.location))).body).toEqual(body)
    const stranger = await send('GET', String(headers.location), undefined, { authorization: 'Bearer other-key' })
    expect(stranger.status).toBe(404)
    expect((await send('GET', '/v1/rejections/retries/x')).status).toBe(404)
  })

  it('as a dry run notes nothing', async () => {
    const { send, rejections } = createEdge()
    rejections.rows = [rejection(), rejection()]
    const { status, headers, body } = await send('POST', '/v1/rejections/retry', { filter, dry_run: true, limit: 1 })
    expect([status, headers.location, headers['weir-dry-run']]).toEqual([200, undefined, 'true'])
    expect(body).toMatchObject({ dry_run: true, matched: 2, submitted: 1, skipped: { over_limit: 1 } })
    expect(rejections.orders.size).toBe(0)
  })

  it('goes on where the one before ended', async () => {
    const { send, rejections } = createEdge()
    rejections.rows = [rejection()]
    const next = { type: 'shops', version: 8192, batchId: randomUUID(), index: 3 }
    rejections.next = next
    const { body } = await send('POST', '/v1/rejections/retry', { filter, dry_run: true })
    expect(typeof body.next_cursor).toBe('string')
    await send('POST', '/v1/rejections/retry', { filter, cursor: body.next_cursor })
    expect(rejections.asked).toMatchObject({ after: next })
    const forged = await send('POST', '/v1/rejections/retry', { filter, cursor: 'abc' })
    expect([forged.status, forged.body.problems]).toMatchObject([400, [{ field: 'cursor' }]])
  })

  it('is the same retry with the same Idempotency-Key, and a 409 with another body', async () => {
    const { send, rejections } = createEdge()
    rejections.rows = [rejection()]
    const keyed = { 'idempotency-key': 'k' }
    const first = await send('POST', '/v1/rejections/retry', { filter }, keyed)
    rejections.rows.push(rejection())
    expect((await send('POST', '/v1/rejections/retry', { filter }, keyed)).body).toEqual(first.body)
    expect((await send('POST', '/v1/rejections/retry', { filter, limit: 1 }, keyed)).status).toBe(409)
    expect(rejections.orders.size).toBe(1)
  })

  it('counts its records against the rate, and waits for what was ordered before', async () => {
    const { send, rejections, callers } = createEdge()
    callers.set('acme-key', { ...acme, rates: { requests: null, records: 1 } })
    rejections.rows = Array.from({ length: 5001 }, () => rejection())
    expect((await send('POST', '/v1/rejections/retry', { filter, limit: 5000 })).status).toBe(202)
    expect((await send('POST', '/v1/rejections/retry', { filter })).status).toBe(429)
    rejections.waiting = 1
    const busy = await send('POST', '/v1/rejections/retry', { filter })
    expect([busy.status, busy.headers['retry-after']]).toEqual([429, '5'])
  })

  it('needs its scope, and a body that says which', async () => {
    const { send } = createEdge()
    const narrow = { authorization: 'Bearer shops-key' }
    expect((await send('POST', '/v1/rejections/retry', { filter }, narrow)).status).toBe(403)
    expect((await send('GET', '/v1/rejections', undefined, narrow)).status).toBe(403)
    expect((await send('POST', '/v1/rejections/retry', {})).status).toBe(400)
    const inAddress = await send('POST', '/v1/rejections/retry?dry_run=true', { filter })
    expect([inAddress.status, inAddress.body.message]).toEqual([400, expect.stringContaining('stand in the body')])
    expect((await send('GET', '/v1/rejections/retry')).status).toBe(405)
  })
})
