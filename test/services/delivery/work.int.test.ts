import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { beforeEach, expect, it } from 'vitest'
import { type DeliveryRow, listDeliveries, replayDeliveries } from '#ledger/webhooks/deliveries.js'
import { wakeQueues } from '#ledger/webhooks/queues.js'
import { addWebhook, changeWebhook, findWebhook } from '#ledger/webhooks/webhooks.js'
import { createMetrics } from '#platform/health/metrics.js'
import type { Posted } from '#platform/outgoing/post.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import type { WebhookEvent } from '#schemas/endpoints/downstream/webhooks.js'
import { createDeliveryFigures } from '../../../services/delivery/figures.js'
import { idOf, type MadeNext, type QueueToRead, type ReadEvent } from '../../../services/delivery/next.js'
import { createWork, usualPace } from '../../../services/delivery/work.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

// A log in memory and receivers that are functions; what is stored, who works on what and what comes of a kill is Postgres's.

const { pool } = await openMigratedDatabase()
const log = pino({ level: 'silent' })
const figures = createDeliveryFigures(createMetrics('delivery'))
const by = { actor: 'test' }

let written: Map<string, number>
let sent: { url: string; id: string; body: string }[]
const taken: Posted = { status: 200, answer: 'ok', retryAfter: null, ms: 1 }
let answerTo: (url: string, id: string) => Posted | Promise<Posted>

beforeEach(async () => {
  await pool.query('truncate delivery.webhooks, auth.organisations cascade')
  written = new Map()
  sent = []
  answerTo = () => taken
})

/** One number after another, up to as many as were written; in pages of two. */
const makeNext = async (event: ReadEvent, { webhookId, org, readTo }: QueueToRead): Promise<MadeNext> => {
  const [from, end] = [Number(readTo), written.get(org) ?? 0]
  const to = Math.min(end, from + 2)
  const body = JSON.stringify(Array.from({ length: to - from }, (_, n) => from + n))
  const draft = {
    id: idOf(webhookId, event, String(to)),
    event,
    records: to - from,
    body,
    from: String(from),
    to: String(to),
  }
  return { drafts: from === to ? [] : [draft], readTo: String(to), isEnd: to === end }
}
const again = async (_: string, from: string, to: string): Promise<string> =>
  JSON.stringify(Array.from({ length: Number(to) - Number(from) }, (_, n) => Number(from) + n))

const start = (pace = { ...usualPace, firstRetry: 0 }, giveUpAfterMs = 3_600_000) =>
  createWork({
    ...{ pool, makeNext, again, giveUpAfterMs, digestEverySeconds: 60, figures, log, pace },
    post: async (url, headers, body) => {
      sent.push({ url, id: headers['webhook-id'] ?? '', body })
      return answerTo(url, headers['webhook-id'] ?? '')
    },
  })
const hooked = async (org: string, url: string, events: WebhookEvent[] = ['records.accepted']) => {
  await pool.query('insert into auth.organisations (org_id) values ($1) on conflict do nothing', [org])
  const made = await inTransaction(pool, (connection) =>
    addWebhook(connection, { org, url, events, readTo: '0' }, 9, by),
  )
  return made?.webhook_id ?? ''
}
const write = async (org: string, count: number) => {
  written.set(org, (written.get(org) ?? 0) + count)
  await wakeQueues(pool, [org])
}
const never = new AbortController().signal
const round = async (work = start(), most = 100) => {
  const queues = await work.claim(most, 16, [])
  await Promise.all(queues.map((queue) => work.workOn(queue, never)))
  return queues.length
}
const numbers = (url: string) =>
  sent.filter((each) => each.url === url).flatMap(({ body }) => JSON.parse(body) as number[])

it('delivers everything once and in order, and looks again only when something was decided', async () => {
  await hooked('acme', 'a')
  await write('acme', 5)
  await round()
  expect(numbers('a')).toEqual([0, 1, 2, 3, 4])
  expect(await round()).toBe(0)
  await write('other', 1)
  expect(await round()).toBe(0)
  await write('acme', 1)
  await round()
  expect(numbers('a')).toEqual([0, 1, 2, 3, 4, 5])
})

it('misses nothing that is decided while a queue is worked on', async () => {
  await hooked('acme', 'a')
  await write('acme', 1)
  const work = start()
  const queues = await work.claim(9, 9, [])
  await write('acme', 1)
  written.set('acme', 1)
  await Promise.all(queues.map((queue) => work.workOn(queue, never)))
  written.set('acme', 2)
  expect(await round()).toBe(1)
  expect(numbers('a')).toEqual([0, 1])
})

it('sends the same delivery again, behind a kill too, and holds up nobody else', async () => {
  const webhookId = await hooked('acme', 'dead')
  await hooked('acme', 'well')
  await write('acme', 3)
  answerTo = (url) => (url === 'dead' ? { status: null, problem: 'refused', ms: 1 } : taken)
  await round()
  expect(numbers('well')).toEqual([0, 1, 2])
  await round()
  // A process that is killed in the middle of an attempt: its lease ends some time.
  const work = start({ ...usualPace, lease: 0 })
  let isSent = () => {}
  const reached = new Promise<void>((resolve) => {
    isSent = resolve
  })
  answerTo = (url) => {
    if (url !== 'dead') return taken
    isSent()
    return new Promise(() => {})
  }
  const [held] = await work.claim(9, 9, [])
  if (held) void work.workOn(held, never)
  await reached
  answerTo = () => taken
  expect(await round()).toBe(1)
  expect(numbers('dead')).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 2])
  expect(new Set(sent.filter(({ url, body }) => url === 'dead' && body === '[0,1]').map(({ id }) => id)).size).toBe(1)
  const [last, first] = await listDeliveries(pool, webhookId, { most: 10 })
  expect([first, last].map((row) => row?.state)).toEqual(['delivered', 'delivered'])
  expect(first?.tried.map(({ status }) => status)).toEqual([null, null, 200])
})

it('shares the queues among processes, each with one of them at a time', async () => {
  for (let n = 0; n < 20; n++) await hooked(`org-${n % 4}`, `url-${n}`)
  const works = Array.from({ length: 4 }, () => start())
  for (let n = 0; n < 4; n++) await write(`org-${n}`, 3)
  const claims = await Promise.all(works.map((work) => work.claim(50, 50, [])))
  const names = claims.flat().map(({ webhookId, queue }) => `${webhookId}/${queue}`)
  expect(new Set(names).size).toBe(names.length)
  await Promise.all(claims.map((queues, n) => Promise.all(queues.map((queue) => works[n]?.workOn(queue, never)))))
  while ((await round()) > 0);
  for (let n = 0; n < 20; n++) expect(numbers(`url-${n}`)).toEqual([0, 1, 2])
  // Of one organisation only as many as it may have, together with what it has under way.
  for (let n = 0; n < 4; n++) await write(`org-${n}`, 1)
  const bounded = await start().claim(50, 3, [{ org: 'org-0', count: 2 }])
  const countOf = (org: string) => bounded.filter((queue) => queue.org === org).length
  expect(['org-0', 'org-1', 'org-2', 'org-3'].map(countOf)).toEqual([1, 3, 3, 3])
})

it('disables a webhook whose receiver stays away, or is gone; enabled again it goes on where it stopped', async () => {
  const webhookId = await hooked('acme', 'a')
  await write('acme', 1)
  answerTo = () => ({ status: 503, answer: '', retryAfter: null, ms: 1 })
  await round()
  expect((await findWebhook(pool, 'acme', webhookId))?.disabled_at).toBeNull()
  await pool.query("update delivery.deliveries set first_tried_at = now() - interval '2 hours'")
  await round()
  const disabled = await findWebhook(pool, 'acme', webhookId)
  expect(disabled?.disabled_reason).toBe('the receiver has not taken a delivery for 2 hours; at last: it answered 503')
  const { rows: audit } = await pool.query(
    'select action, actor from auth.audit where subject = $1 order by audit_id',
    [webhookId],
  )
  expect(audit.at(-1)).toEqual({ action: 'webhook_disabled', actor: 'weir delivery' })
  await write('acme', 3)
  expect(await round()).toBe(0)

  answerTo = () => ({ status: 410, answer: '', retryAfter: null, ms: 1 })
  const enable = () =>
    inTransaction(pool, (connection) =>
      changeWebhook(connection, { org: 'acme', webhookId, readTo: '0' }, { enabled: true }, by),
    )
  await enable()
  await round()
  expect((await findWebhook(pool, 'acme', webhookId))?.disabled_reason).toBe('the receiver answered 410 Gone')
  answerTo = () => taken
  sent = []
  await enable()
  await round()
  expect(numbers('a')).toEqual([0, 1, 2, 3])
})

it('waits longer each time, and as long as it is asked to', async () => {
  await hooked('acme', 'a')
  await write('acme', 1)
  const pauses: number[] = []
  for (const retryAfter of [null, null, null, 500]) {
    answerTo = () => ({ status: 429, answer: '', retryAfter, ms: 1 })
    await pool.query('update delivery.queues set due_at = now()')
    await round(start(usualPace))
    const { rows } = await pool.query<{ pause: number }>(
      "select extract(epoch from due_at - now())::float8 as pause from delivery.queues where queue = 'records.accepted'",
    )
    pauses.push(rows[0]?.pause ?? 0)
    // Nothing that is decided meanwhile makes it hurry.
    await write('acme', 1)
    expect(await round(start(usualPace))).toBe(0)
  }
  const [first = 0, second = 0, third = 0, asked = 0] = pauses
  expect(first).toBeGreaterThan(1)
  expect(second).toBeGreaterThan(2.5)
  expect(third).toBeGreaterThan(5)
  expect(third).toBeLessThan(10)
  expect(asked).toBeGreaterThan(490)
})

it('delivers again what is asked for, under the same ids, from the log where the body is gone', async () => {
  const webhookId = await hooked('acme', 'a')
  await write('acme', 6)
  await round()
  const rows = async (): Promise<DeliveryRow[]> => (await listDeliveries(pool, webhookId, { most: 10 })).reverse()
  const [, second] = await rows()
  const { rows: bodies } = await pool.query('select body from delivery.deliveries where body is not null')
  expect(bodies).toEqual([])
  const before = [...sent]
  sent = []
  const replay = (which: object) => inTransaction(pool, (connection) => replayDeliveries(connection, webhookId, which))
  expect(await replay({ deliveryId: second?.delivery_id })).toBe(1)
  await round()
  expect(sent).toEqual([before[1]])
  sent = []
  expect(await replay({ since: new Date(0) })).toBe(3)
  await write('acme', 1)
  await round()
  expect(numbers('a').sort()).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(await replay({ deliveryId: `msg_${randomUUID()}` })).toBe(0)
})
