import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Wait } from '#ledger/waiting/look-up.js'
import type { SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge, startOfTest } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'

const hour = 3_600_000
const shopId = String(sampleOf(shop).shop_id)
const missing = [{ field: 'shop_id', type: 'shops', id: shopId }]
const until = new Date(startOfTest + 24 * hour).toISOString()
const waiting = '/v1/data/offers?missing_references=wait'
const offers = (count: number) => Array.from({ length: count }, () => sampleOf(offer, { shop_id: shopId }))

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** An import needs a connection. */
const createImports = async () => {
  const edge = createEdge()
  await edge.app.listen({ host: '127.0.0.1', port: 0 })
  closing.push(() => edge.app.close())
  const { port } = edge.app.server.address() as AddressInfo
  const importLines = async (query: string, lines: readonly unknown[]) => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/imports/offers?${query}`, {
      method: 'POST',
      headers: { authorization: 'Bearer acme-key', 'content-type': 'application/x-ndjson' },
      body: lines.map((line) => JSON.stringify(line)).join('\n'),
    })
    const text = await answer.text()
    return {
      status: answer.status,
      lines: text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    }
  }
  return { ...edge, importLines }
}

/** A verdict by which the records at these places in the batch wait. */
const waitingAt =
  (type: string, ...places: number[]) =>
  (batch: SubmittedBatch): { verdict: VerdictEvent } => {
    const verdict = verdictOn(type, batch)
    const waiting = batch.records
      .filter(({ index }) => places.includes(index))
      .map((record) => ({
        index: record.index,
        id: String(record[type === 'offers' ? 'offer_id' : 'interaction_id']),
        for: missing,
        until: batch.wait_until ?? 0,
      }))
    return { verdict: { ...verdict, accepted: verdict.accepted - waiting.length, waiting } }
  }

const endOf = (verdict: VerdictEvent, place: number, state: Wait['state'], over: Partial<Wait> = {}): Wait => ({
  orgId: verdict.org_id,
  type: verdict.type,
  id: verdict.waiting?.find(({ index }) => index === place)?.id ?? '',
  requestId: verdict.request_id,
  batchId: verdict.batch_id,
  place,
  index: verdict.first_index + place,
  state,
  missing,
  since: new Date(startOfTest),
  until: new Date(startOfTest + 24 * hour),
  changedAt: new Date(startOfTest + hour),
  problems: null,
  acceptedVersion: null,
  ...over,
})

describe('how long records wait', () => {
  it.each([
    ['', undefined],
    ['missing_references=refuse', undefined],
    ['missing_references=wait', 24 * hour],
    ['missing_references=wait&wait_for=90s', 90_000],
    ['missing_references=wait&wait_for=60s', 60_000],
    ['wait_for=30m&missing_references=wait', 30 * 60_000],
    ['missing_references=wait&wait_for=24h', 24 * hour],
    ['missing_references=wait&wait_for=7d', 7 * 24 * hour],
  ])('is what "%s" says', async (query, wait) => {
    const { send, submit } = createEdge()
    expect((await send('POST', `/v1/data/offers?${query}`, { records: offers(501) })).status).toBe(200)
    await send('POST', `/user-interactions?${query}`, sampleOf(interaction))
    const expected = wait === undefined ? null : startOfTest + wait
    expect(submit.submitted.map(({ batch }) => batch.wait_until)).toEqual([expected, expected, expected])
  })

  const allowed = 'wait_for must be a time from 1m to 7d, such as 90s, 30m, 24h or 7d'
  it.each([
    ['missing_references=wait&wait_for=59s', allowed],
    ['missing_references=wait&wait_for=8d', allowed],
    ['missing_references=wait&wait_for=0m', allowed],
    ['missing_references=wait&wait_for=24', allowed],
    ['missing_references=wait&wait_for=24H', allowed],
    ['missing_references=wait&wait_for=-1h', allowed],
    ['missing_references=wait&wait_for=1.5h', allowed],
    ['missing_references=wait&wait_for=9999999s', allowed],
    ['missing_references=wait&wait_for=', allowed],
    ['missing_references=wait&wait_for=1h&wait_for=1h', 'wait_for may be given once only'],
    ['wait_for=1h', 'wait_for needs missing_references=wait beside it'],
    ['missing_references=refuse&wait_for=1h', 'wait_for needs missing_references=wait beside it'],
    ['missing_references=later', 'missing_references must be wait or refuse'],
    ['missing_references', 'missing_references must be wait or refuse'],
    [
      'missing_reference=wait',
      'there is no query parameter "missing_reference" here; did you mean missing_references?',
    ],
  ])('cannot be "%s"', async (query, message) => {
    const { send, submit, importLines } = await createImports()
    const upload = await send('POST', `/v1/data/offers?${query}`, { records: offers(1) })
    expect([upload.status, upload.body.message]).toEqual([400, message])
    const imported = await importLines(query, offers(1))
    expect([imported.status, imported.lines[0].message]).toEqual([400, message])
    const recorded = await send('POST', `/user-interactions?${query}`, sampleOf(interaction))
    expect([recorded.status, recorded.body.message]).toEqual([400, message])
    expect(submit.submitted).toEqual([])
  })

  it('may be shorter where the operator lets it, and says so', async () => {
    const { send } = createEdge({ shortestWait: 2_000 })
    expect((await send('POST', `${waiting}&wait_for=2s`, { records: offers(1) })).status).toBe(200)
    expect((await send('POST', `${waiting}&wait_for=1s`, { records: offers(1) })).body.message).toContain(
      'from 2s to 7d',
    )
  })
})

describe('an upload of which records wait', () => {
  it('is a 207 that tells them, also where nothing was refused', async () => {
    const { send, submit, metrics } = createEdge()
    submit.outcome = waitingAt('offers', 1, 2, 4)
    const records = offers(5)
    const { status, headers, body } = await send('POST', waiting, { records })
    expect([status, headers.location]).toEqual([207, `/v1/requests/${body.request_id}`])
    expect(body.batches).toEqual([
      {
        batch: 1,
        status: 207,
        data: {
          status: 'partial',
          type: 'offers',
          message: '2 of 5 records accepted, 3 wait',
          request_id: body.request_id,
          batch_id: expect.any(String),
          error: null,
          waiting: [1, 2, 4].map((index) => ({ index, id: records[index]?.offer_id, for: missing, until })),
        },
      },
    ])
    const figures = await metrics.text()
    expect(figures).toContain('weir_edge_records_total{type="offers",outcome="waiting"} 3')
    expect(figures).toContain('weir_edge_records_total{type="offers",outcome="accepted"} 2')
  })

  it('is a 207 too where all of them wait, or some are refused', async () => {
    const { send, submit } = createEdge()
    submit.outcome = waitingAt('offers', 0)
    const alone = await send('POST', waiting, { records: offers(1) })
    expect([alone.status, alone.body.batches[0].data.message]).toEqual([207, '0 of 1 record accepted, 1 waits'])
    const mixed = await send('POST', waiting, { records: [...offers(1), {}] })
    expect([mixed.status, mixed.body.batches[0].status]).toEqual([207, 207])
    expect(mixed.body.batches[0].data).toMatchObject({
      message: '0 of 2 records accepted, 1 waits',
      error: '1 of 2 records refused; the first is records[1]: offer_id is required',
      errors: [{ index: 1 }],
      waiting: [{ index: 0 }],
    })
  })

  it('counts the index in the request, and tells the line where there are lines', async () => {
    const { send, submit } = createEdge()
    submit.outcome = (batch) => waitingAt('offers', ...(batch.batch === 2 ? [1] : []))(batch)
    const text = offers(502)
      .map((one) => JSON.stringify(one))
      .join('\n\n')
    const { body } = await send('POST', waiting, text, { 'content-type': 'application/x-ndjson' })
    expect(body.batches[0].status).toBe(200)
    expect(body.batches[1].data.waiting).toMatchObject([{ index: 501, line: 1003 }])
  })

  it('is told as it stands when it is looked up, or sent again with its key', async () => {
    const { send, submit, store } = createEdge()
    submit.outcome = waitingAt('offers', 0, 1, 2, 3)
    const key = { 'idempotency-key': 'once' }
    const records = offers(5)
    const first = await send('POST', waiting, { records }, key)
    const [published] = submit.submitted
    if (!published) throw new Error('nothing was submitted')
    const { verdict } = waitingAt('offers', 0, 1, 2, 3)(published.batch)
    store.verdicts.push(verdict)
    const look = () => send('GET', `/v1/requests/${first.body.request_id}`)
    const again = () => send('POST', `${waiting}&wait_for=2h`, { records }, key)

    store.waits = [0, 1, 2, 3].map((place) => endOf(verdict, place, 'waiting'))
    expect((await look()).body).toEqual(first.body)
    expect((await again()).body).toEqual(first.body)

    const problems = [{ field: 'shop_id', code: 'unknown_reference' as const, message: 'waited 24 hours' }]
    store.waits = [
      endOf(verdict, 0, 'accepted'),
      endOf(verdict, 1, 'refused', { problems }),
      endOf(verdict, 2, 'superseded'),
      endOf(verdict, 3, 'waiting'),
    ]
    const at = new Date(startOfTest + hour).toISOString()
    const ids = records.map(({ offer_id }) => offer_id)
    const { body } = await look()
    expect(body.batches).toMatchObject([
      {
        status: 207,
        data: {
          message: '2 of 5 records accepted, 1 waits, 1 superseded',
          error: '1 of 5 records refused; the first is records[1]: waited 24 hours',
          errors: [{ index: 1, id: ids[1], problems }],
          waiting: [{ index: 3, id: ids[3], for: missing, until }],
          waited: [
            { index: 0, id: ids[0], state: 'accepted', at },
            { index: 1, id: ids[1], state: 'refused', at },
            { index: 2, id: ids[2], state: 'superseded', at },
          ],
        },
      },
    ])
    expect((await again()).body).toEqual(body)

    store.waits = [0, 1, 2, 3].map((place) => endOf(verdict, place, 'accepted'))
    const ended = (await look()).body.batches[0]
    expect([ended.status, ended.data.status, ended.data.message]).toEqual([200, 'success', '5 records accepted'])
    expect([ended.data.waiting, ended.data.waited.length]).toEqual([undefined, 4])
    expect([(await again()).status, submit.submitted.length]).toEqual([200, 1])

    store.waits = [0, 1, 2, 3].map((place) => endOf(verdict, place, 'cancelled'))
    expect((await look()).body.batches[0].data.message).toBe('1 of 5 records accepted, 4 cancelled')
    expect((await send('POST', waiting, { records: offers(5) }, key)).status).toBe(409)
  })
})

describe('an import of which records wait', () => {
  it('tells them with their batch, and how many in the summary', async () => {
    const { submit, importLines } = await createImports()
    submit.outcome = (batch) => waitingAt('offers', ...(batch.batch === 2 ? [0, 1] : []))(batch)
    const records = offers(502)
    const { lines } = await importLines('missing_references=wait&wait_for=24h', records)
    expect(lines).toMatchObject([
      { batch: 1, status: 200, accepted: 500, refused: [], waiting: [] },
      {
        batch: 2,
        status: 207,
        accepted: 0,
        from_line: 501,
        to_line: 502,
        waiting: [
          { index: 500, line: 501, id: records[500]?.offer_id, for: missing, until },
          { index: 501, line: 502 },
        ],
      },
      {
        summary: {
          records: 502,
          accepted: 500,
          refused: 0,
          waiting: 2,
          message: '500 of 502 records accepted, 2 wait',
        },
      },
    ])
  })
})

describe('an interaction that waits', () => {
  const address = '/user-interactions?missing_references=wait&wait_for=24h'

  it('is a 202 that says what for, and where to look', async () => {
    const { send, submit, store } = createEdge()
    submit.outcome = waitingAt('interactions', 0)
    const given = sampleOf(interaction)
    const { status, headers, body } = await send('POST', address, given)
    expect([status, headers.location]).toEqual([202, `/v1/requests/${headers['x-request-id']}`])
    expect(body).toEqual({ ...given, interaction_id: expect.any(String), waiting: { for: missing, until } })

    const [published] = submit.submitted
    if (!published) throw new Error('nothing was submitted')
    const { verdict } = waitingAt('interactions', 0)(published.batch)
    store.verdicts.push(verdict)
    const look = async () => (await send('GET', String(headers.location))).body.batches[0]
    expect(await look()).toMatchObject({
      status: 207,
      data: { waiting: [{ index: 0, id: body.interaction_id, until }] },
    })
    store.waits = [endOf(verdict, 0, 'accepted')]
    expect(await look()).toMatchObject({ status: 200, data: { waited: [{ index: 0, state: 'accepted' }] } })
    store.waits = [endOf(verdict, 0, 'cancelled')]
    expect(await look()).toMatchObject({ status: 207, data: { message: '0 of 1 record accepted, 1 cancelled' } })
  })

  it('needs a key, also where recording needs none', async () => {
    const { app, submit } = createEdge({ openOrg: 'open' })
    const answer = await app.inject({ method: 'POST', url: address, payload: sampleOf(interaction) })
    expect([answer.statusCode, answer.json().message]).toEqual([400, expect.stringContaining('needs an API key')])
    expect(submit.submitted).toEqual([])
  })

  it('travels only with those that wait as long, and each hears of itself', async () => {
    const { send, submit, store } = createEdge()
    // Which of them come together depends on the machine; never those that wait for another time.
    const decide = (batch: SubmittedBatch) =>
      waitingAt('interactions', ...batch.records.flatMap(({ index, city }) => (city === 'waits' ? [index] : [])))(batch)
    submit.outcome = decide
    const answers = await Promise.all(
      [address, address, '/user-interactions', '/user-interactions?missing_references=wait&wait_for=1h'].map((url, n) =>
        send('POST', url, sampleOf(interaction, { city: n === 1 ? 'waits' : 'does not' })),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 202, 201, 201])
    const until = submit.submitted.flatMap(({ batch }) => batch.records.map(() => batch.wait_until))
    const times = [startOfTest + hour, startOfTest + 24 * hour]
    expect(until.sort()).toEqual([times[0], times[1], times[1], null].sort())
    for (const { batch } of submit.submitted) store.verdicts.push(decide(batch).verdict)
    const found = await Promise.all(
      answers.map(({ headers }) => send('GET', `/v1/requests/${headers['x-request-id']}`)),
    )
    expect(found.map(({ body }) => body.batches[0].status)).toEqual([200, 207, 200, 200])
  })
})

describe('a dry run', () => {
  it('says what would wait, and has nothing wait', async () => {
    const { send, submit, known } = createEdge()
    const records = offers(2)
    const tried = await send('POST', `${waiting}&wait_for=24h&dry_run=true`, { records })
    expect([tried.status, tried.headers['weir-dry-run']]).toEqual([207, 'true'])
    expect(tried.body.batches[0].data).toMatchObject({
      message: '0 of 2 records accepted, 2 wait',
      waiting: records.map(({ offer_id }, index) => ({ index, id: offer_id, for: missing, until })),
    })
    const refused = await send('POST', '/v1/data/offers?dry_run=true', { records })
    expect([refused.status, refused.body.batches[0].data.waiting]).toEqual([400, undefined])
    known.add(`acme/shops/${shopId}`)
    expect((await send('POST', `${waiting}&dry_run=true`, { records })).status).toBe(200)
    expect(submit.submitted).toEqual([])
  })
})
