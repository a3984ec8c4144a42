import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { uploads } from '#schemas/catalogue.js'
import { shop } from '#schemas/records/shop.js'
import { csvOf, ndjsonOf } from '../../../support/lined.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'

const ndjson = { 'content-type': 'application/x-ndjson' }
const csv = { 'content-type': 'text/csv' }
const shops = (count: number) => Array.from({ length: count }, () => sampleOf(shop))

describe('an upload of lines', () => {
  it.each(uploads)('submits the same $type as one of JSON', async (type) => {
    const records = [sampleOf(type), sampleOf(type, {}, { onlyRequired: true }), sampleOf(type)]
    const { send, submit } = createEdge()
    await send('POST', `/v1/data/${type.type}`, { records })
    await send('POST', `/v1/data/${type.type}`, ndjsonOf(records), ndjson)
    await send('POST', `/v1/data/${type.type}`, csvOf(type, records), { 'content-type': 'text/csv; charset=utf-8' })
    await send('POST', `/v1/data/${type.type}`, gzipSync(csvOf(type, records)), { ...csv, 'content-encoding': 'gzip' })
    const [json, ...others] = submit.submitted.map(({ batch }) => batch.records)
    expect(others).toHaveLength(3)
    for (const other of others) expect(other).toEqual(json)
  })

  it.each(['application/x-ndjson', 'application/ndjson', 'application/jsonl'])(
    'is taken as %s',
    async (contentType) => {
      const { send } = createEdge()
      const answer = await send('POST', '/v1/data/shops', ndjsonOf(shops(2)), { 'content-type': contentType })
      expect(answer.status).toBe(200)
    },
  )

  it('tells the line of each refused record, and publishes what was on a line that is no record', async () => {
    const { send, submit } = createEdge()
    const body = `${ndjsonOf(shops(1))}\n{"shop_id": \n${ndjsonOf([{ ...sampleOf(shop), region: 'GBR' }])}`
    const { status, body: answer } = await send('POST', '/v1/data/shops', body, ndjson)
    expect(status).toBe(207)
    const message = 'the line is not valid JSON: a value was expected at column 13, where it ends'
    expect(answer.batches[0].data).toMatchObject({
      error: `2 of 3 records refused; the first is records[1] on line 3: ${message}`,
      errors: [
        { index: 1, line: 3, id: null, problems: [{ field: null, code: 'unreadable', message }] },
        { index: 2, line: 4, problems: [{ field: 'region', code: 'bad_format' }] },
      ],
    })
    expect(submit.submitted[0]?.batch.refusals).toMatchObject([
      { index: 1, record: '{"shop_id": ', truncated: true },
      { index: 2, truncated: false },
    ])
  })

  it('tells the same lines when it is sent again with its key, and is another request in another format', async () => {
    const { send, store, submit } = createEdge()
    const body = ndjsonOf([...shops(1), { region: 'GB' }])
    const keyed = { ...ndjson, 'idempotency-key': 'one' }
    const first = await send('POST', '/v1/data/shops', body, keyed)
    store.verdicts.push(...submit.submitted.map(({ type, batch }) => verdictOn(type, batch)))
    expect((await send('POST', '/v1/data/shops', body, keyed)).body).toEqual(first.body)
    const other = await send('POST', '/v1/data/shops', `name\n${body}`, { ...csv, 'idempotency-key': 'one' })
    expect(other.status).toBe(409)
  })

  it('has the limits of any upload, and says where more is taken', async () => {
    const { send, submit } = createEdge()
    const many = await send('POST', '/v1/data/shops', ndjsonOf(Array.from({ length: 5001 }, () => ({}))), ndjson)
    expect(many).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('at most 5000 shops; POST the same body to /v1/imports/shops') },
    })
    for (const [body, headers, message] of [
      ['\n \n', ndjson, 'the body holds no records'],
      ['shop_id,name\n\n', csv, 'the body holds no records'],
      ['', csv, 'the body is empty'],
      // As `curl -d @file` sends them.
      ['shop_id,name3f2b8c1e,Corner Books', csv, 'curl sends a file as it is with --data-binary @file'],
      ['Shop-Id\n1\n', csv, 'the header of the CSV names no field of shops ("Shop-Id" may be shop_id)'],
    ] as const) {
      const answer = await send('POST', '/v1/data/shops', body, headers)
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } })
    }
    const large = await send('POST', '/v1/data/shops', 'x'.repeat(1024 * 1024 + 1), csv)
    expect(large).toMatchObject({ status: 413, body: { message: expect.stringContaining('/v1/imports/shops') } })
    const together = await send('POST', '/v1/data/shops', ndjsonOf(shops(2)).replaceAll('\n', ''), ndjson)
    expect(together.body.batches[0].data.error).toMatch(/is not valid JSON.*--data-binary @file/)
    submit.submitted.length = 0
    expect(submit.submitted).toEqual([])
  })

  it('may be tried out, and need not be waited for', async () => {
    const { send, submit } = createEdge()
    const tried = await send('POST', '/v1/data/shops?dry_run=true', `${csvOf(shop, shops(1))}x\n`, csv)
    expect(tried).toMatchObject({ status: 207, headers: { 'weir-dry-run': 'true' } })
    expect(tried.body.batches[0].data.errors).toMatchObject([{ line: 3, problems: [{ code: 'unreadable' }] }])
    expect(submit.submitted).toEqual([])
    const async = await send('POST', '/v1/data/shops', csvOf(shop, shops(1)), { ...csv, prefer: 'respond-async' })
    expect([200, 202]).toContain(async.status)
  })
})

it('is not how interactions come, and no other format is taken', async () => {
  const { send } = createEdge()
  const interaction = await send('POST', '/user-interactions', '{}\n', ndjson)
  expect(interaction).toMatchObject({
    status: 415,
    body: { message: expect.stringContaining('send the body as JSON, with') },
  })
  const other = await send('POST', '/v1/data/shops', 'x', { 'content-type': 'text/plain' })
  expect(other.status).toBe(415)
  expect(other.body.message).toContain(
    'send the body as JSON, NDJSON or CSV, with the header Content-Type: application/json,',
  )
})
