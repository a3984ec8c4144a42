import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { course } from '#schemas/records/course.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'

const edge = createEdge()
/** For what is taken: the other edge is to submit nothing. */
const taking = createEdge()
const valid = JSON.stringify({ records: [sampleOf(shop)] })
const key = { authorization: 'Bearer acme-key' }
const secret = 'the-secret-payload'

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
const anInteraction = (bytes: number) => `{"user_id": "${'x'.repeat(bytes)}"}`

describe('a request that cannot be read', () => {
  type Case = [
    string,
    number,
    RegExp,
    string | Buffer | undefined,
    path?: string | undefined,
    headers?: Record<string, string>,
  ]
  const cases: Case[] = [
    ['malformed JSON', 400, /not valid JSON.*line 1, column 14/, `{"records": [x${secret}`],
    ['an empty body', 400, /empty/, ''],
    ['no body', 400, /empty/, undefined],
    ['an array', 400, /object/, '[]'],
    ['null', 400, /object/, 'null'],
    ['no records', 400, /"records" is missing/, '{}'],
    ['records that are no array', 400, /array/, '{"records": {"0": {}}}'],
    ['empty records', 400, /empty/, '{"records": []}'],
    ['a misspelt field', 400, /did you mean "records"/, '{"record": [{}]}'],
    ['an unknown field', 400, /besides "records"/, '{"records": [{}], "org_id": "acme"}'],
    ['__proto__ as a field', 400, /besides "records"/, '{"records": [{}], "__proto__": {"x": 1}}'],
    ['too many records', 400, /5000.*5001/, JSON.stringify({ records: Array(5001).fill({}) })],
    [
      'too many courses',
      400,
      /1000.*1001/,
      JSON.stringify({ records: Array(1001).fill(sampleOf(course)) }),
      '/v1/data/courses',
    ],
    [
      'more values than any upload has',
      400,
      /more than 100000 values; send fewer/,
      `{"records": [${'0,'.repeat(100_000)}0]}`,
    ],
    ['nesting without end', 400, /not valid JSON/, '['.repeat(100_000)],
    ['names without end', 400, /more than 200 different names/, `{${numbers(201).map((n) => `"x${n}":1`)}}`],
    ['invalid UTF-8', 400, /UTF-8/, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ['text/plain', 415, /application\/json/, valid, undefined, { 'content-type': 'text/plain' }],
    ['JSON by another name', 415, /application\/json/, valid, undefined, { 'content-type': 'application/json5' }],
    ['another encoding', 415, /gzip/, valid, undefined, { 'content-encoding': 'br' }],
    ['stacked encodings', 415, /gzip/, valid, undefined, { 'content-encoding': 'gzip, gzip' }],
    ['broken gzip', 400, /gzip/, 'not gzip', undefined, { 'content-encoding': 'gzip' }],
    ['half a gzip', 400, /gzip/, gzipSync(valid).subarray(0, 30), undefined, { 'content-encoding': 'gzip' }],
    ['too many bytes', 413, /larger than/, Buffer.alloc(1024 * 1024 + 1, 32)],
    [
      'a gzip bomb',
      413,
      /larger/,
      gzipSync(Buffer.alloc(64 * 1024 * 1024, 32)),
      undefined,
      { 'content-encoding': 'gzip' },
    ],
    [
      'an interaction of more than 64 KiB',
      413,
      /65536 bytes; an interaction/,
      anInteraction(65_536),
      '/user-interactions',
    ],
    [
      'an interaction of more than 64 KiB in a gzip',
      413,
      /65536 bytes once decompressed; an interaction/,
      gzipSync(anInteraction(65_536)),
      '/user-interactions',
      { 'content-encoding': 'gzip' },
    ],
    ['an unknown type', 404, /did you mean shops\? the types are shops, categories/, valid, '/v1/data/shopz'],
    ['a type from the prototype', 404, /no such type/, valid, '/v1/data/__proto__'],
    ['a constructor for a type', 404, /no such type/, valid, '/v1/data/constructor'],
    ['an unknown address', 404, /nothing at this address/, 'x', '/v2/data', { 'content-type': 'text/plain' }],
    ['an address that cannot be decoded', 400, /malformed/, valid, '/v1/data/%E0%A4%A'],
  ]
  it.each(cases)('%s is a %i', async (_, status, message, body, path = '/v1/data/shops', headers = {}) => {
    const answer = await edge.send('POST', path, body, { 'content-type': 'application/json', ...headers })
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({
      error: expect.any(String),
      message: expect.stringMatching(message),
      request_id: answer.headers['x-request-id'],
    })
    expect(JSON.stringify(answer.body)).not.toMatch(new RegExp(`${secret}|node_modules|at .*\\.js`))
  })

  it('of another form shows a body that works', async () => {
    const form = /a body that works: (\{.*\})$/
    const csv = 'shop_id,name,region\n1,Corner Books,GB\n'
    const lines = `${JSON.stringify(sampleOf(shop))}\n${JSON.stringify(sampleOf(shop))}\n`
    const cases: [number, string | object, Record<string, string>?][] = [
      [400, sampleOf(shop)],
      [400, [sampleOf(shop)]],
      [400, {}],
      [400, { records: sampleOf(shop) }],
      [400, csv],
      [400, lines],
      [415, csv, { 'content-type': 'text/plain' }],
      [415, lines, { 'content-type': 'application/x-parquet' }],
      [415, valid, { 'content-type': 'application/x-www-form-urlencoded' }],
    ]
    for (const [status, body, headers = {}] of cases) {
      const answer = await edge.send('POST', '/v1/data/shops', body, headers)
      expect(answer.status, answer.body.message).toBe(status)
      const [, shown = ''] = form.exec(answer.body.message) ?? []
      expect((await taking.send('POST', '/v1/data/shops', shown)).status, answer.body.message).toBe(200)
    }
    const interaction = await edge.send('POST', '/user-interactions', csv, { 'content-type': 'text/csv' })
    const [, shown = ''] = form.exec(interaction.body.message) ?? []
    expect((await taking.send('POST', '/user-interactions', shown)).status).toBe(201)
  })

  it('that is too large says how to send it', async () => {
    const many = JSON.stringify({ records: Array(10_001).fill({}) })
    expect((await edge.send('POST', '/v1/data/shops', many)).body.message).toMatch(/send them in 3 requests/)
    const large = await edge.send('POST', '/v1/data/shops', Buffer.alloc(1024 * 1024 + 1, 32))
    expect(large.body.message).toMatch(/send fewer records in each request/)
  })

  it('to a single record says how a record is deleted, and that works', async () => {
    const id = '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'
    for (const type of catalogue.uploads.values()) {
      const answer = await edge.send('DELETE', `/v1/data/${type.type}/${id}`)
      expect([answer.status, answer.headers.allow]).toEqual([405, ''])
      const [, shown = ''] = /"is_deleted": true, as in (\{.*\})$/.exec(answer.body.message) ?? []
      expect(JSON.parse(shown).records).toMatchObject([{ [type.id]: id, is_deleted: true }])
      expect((await taking.send('POST', `/v1/data/${type.type}`, shown)).status, type.type).toBe(200)
    }
    for (const method of ['PUT', 'PATCH', 'GET'] as const) {
      const answer = await edge.app.inject({ method, url: '/v1/data/shops/1', headers: key, payload: 'x' })
      expect([answer.statusCode, answer.json().message]).toEqual([405, expect.stringContaining('"is_deleted": true')])
    }
    expect((await edge.send('DELETE', `/v1/data/shopz/${id}`)).status).toBe(404)
  })

  it('with the wrong method names the right one, whatever its body', async () => {
    const answer = await edge.send('PUT', '/v1/data/shops', 'x', { 'content-type': 'text/plain' })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST'])
    expect((await edge.send('DELETE', '/user-interactions')).headers.allow).toBe('POST, GET, HEAD')
    for (const [url, headers, status] of [
      ['/v1/data/shops?a=b', key, 405],
      ['/v1/data/shops', {}, 401],
      ['/openapi.json', {}, 405],
      ['/openapi-json', {}, 404],
    ] as const)
      expect((await edge.app.inject({ method: 'PROPFIND' as never, url, headers })).statusCode, url).toBe(status)
  })

  it('submits nothing', () => expect(edge.submit.submitted).toEqual([]))
})

describe('a record that is wrong', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
  const cases: [string, string, object?][] = [
    ['a number', '1'],
    ['null', 'null'],
    ['an array', '[[]]'],
    ['deeply nested', `{"name": ${deep}}`, { record: expect.stringMatching(/^\{"name": \[+\]+$/), truncated: true }],
    ['a lone surrogate', '{"name": "\\ud800"}', { record: '{"name": "\\ud800"}', truncated: false }],
    ['a NUL', '{"name": "\\u0000"}'],
    ['a key with a NUL and a lone surrogate', '{"a\\u0000\\udfff": 1, "shop_id": "\\u0000\\ud800"}'],
    ['__proto__', '{"__proto__": {"name": "x"}}', { record: '{"__proto__": {"name": "x"}}' }],
    ...[
      '{"name": 9007199254740993, "is_public": "true"}',
      '{"name": 1e400, "is_public": -0}',
      '{ "shop_id" : "\\/" }',
    ].map((given): [string, string, object] => [given, given, { record: given, truncated: false }]),
    ['very long', `{"${'k'.repeat(100_000)}": 1}`, { truncated: true }],
  ]
  it.each(cases)('%s is refused, and its neighbour accepted', async (_, record, stored = {}) => {
    const { send, submit } = createEdge()
    const { status } = await send(
      'POST',
      '/v1/data/shops',
      `{"records": [${record}, ${JSON.stringify(sampleOf(shop))}]}`,
    )
    expect(status).toBe(207)
    const [refusal] = submit.submitted[0]?.batch.refusals ?? []
    expect(refusal).toMatchObject({ index: 0, ...stored })
    expect(refusal?.record.length).toBeLessThanOrEqual(65_536)
  })
})

describe('a key', () => {
  it('is asked for before the body is read, on every route that is not public', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nonsense', 'Basic acme-key', 'acme-key']) {
      const answer = await edge.send('POST', '/v1/data/shops', '{', { authorization })
      expect(answer.status, authorization).toBe(401)
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.body).toMatchObject({ error: 'Unauthorized', message: expect.stringMatching(/invalid or missing/) })
    }
    for (const url of ['/user-interactions', '/v1/requests/0', '/v1/data/shops']) {
      expect((await edge.send('GET', url, undefined, { authorization: '' })).status).toBe(401)
    }
  })

  it('without the scope is a 403 that names it', async () => {
    const headers = { authorization: 'bearer shops-key' }
    expect((await edge.send('POST', '/v1/data/shops', valid, headers)).status).toBe(200)
    const answer = await edge.send('POST', '/v1/data/tags', valid, headers)
    expect(answer.status).toBe(403)
    expect(answer.body).toMatchObject({ error: 'Forbidden', message: expect.stringContaining('tags:write') })
    expect((await edge.send('GET', '/user-interactions', undefined, headers)).body.message).toContain(
      'interactions:read',
    )
  })
})

it('answers an exception with a 500 that tells nothing, and logs it', async () => {
  const { send, lines } = createEdge({ submit: () => Promise.reject(new Error(secret)) })
  const { status, body } = await send('POST', '/v1/data/shops', valid)
  expect(status).toBe(500)
  expect(JSON.stringify(body)).not.toContain(secret)
  expect(lines.at(-1)).toMatchObject({ level: 50, request_id: body.request_id, err: { message: secret } })
})

it('logs one line for each request, with the pattern of its address', async () => {
  const { send, lines } = createEdge()
  await send('POST', '/v1/data/shops', valid)
  await send('GET', `/user-interactions?user_id=${secret}`)
  expect(lines).toMatchObject([
    { method: 'POST', route: '/v1/data/shops', status: 200, org: 'acme', key_id: 'k1', records: 1 },
    { method: 'GET', route: '/user-interactions', status: 200 },
  ])
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${secret}|acme-key`))
})
