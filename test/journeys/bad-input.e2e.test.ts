import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../support/sample.js'
import { newOrganisation, system } from '../support/system/system.js'

type Refusal = { error: string; message: string; request_id: string }

const org = await newOrganisation('bad-input')
const post = (body: string | Buffer, path = '/v1/data/shops', headers: Record<string, string> = {}) =>
  org.uploader.send<Refusal>('POST', path, body, headers)
const valid = JSON.stringify({ records: [sampleOf(shop)] })

describe('a request that cannot be read', () => {
  const cases: [string, number, string | Buffer, path?: string | undefined, headers?: Record<string, string>][] = [
    ['malformed JSON', 400, '{"records": ['],
    ['an empty body', 400, ''],
    ['an array', 400, '[]'],
    ['a string', 400, '"records"'],
    ['null', 400, 'null'],
    ['no records', 400, '{}'],
    ['empty records', 400, '{"records": []}'],
    ['records that are no array', 400, '{"records": {"0": {}}}'],
    ['an unknown field beside records', 400, '{"records": [{}], "org_id": "acme"}'],
    ['invalid UTF-8', 400, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ['another content type', 415, valid, undefined, { 'content-type': 'text/plain' }],
    ['another encoding', 415, valid, undefined, { 'content-encoding': 'br' }],
    ['broken gzip', 400, Buffer.from('not gzip'), undefined, { 'content-encoding': 'gzip' }],
    ['too many bytes', 413, JSON.stringify({ records: [{ name: 'x'.repeat(17 * 1024 * 1024) }] })],
    ['a gzip bomb', 413, gzipSync(Buffer.alloc(64 * 1024 * 1024, 32)), undefined, { 'content-encoding': 'gzip' }],
    ['an unknown type', 404, valid, '/v1/data/sharks'],
    ['a type from the prototype', 404, valid, '/v1/data/__proto__'],
    ['a constructor for a type', 404, valid, '/v1/data/constructor'],
    ['a path that cannot be decoded', 400, valid, '/v1/data/%E0%A4%A'],
  ]
  it.each(cases)('%s is a %i', async (_, status, body, path, headers) => {
    const answer = await post(body, path, headers)
    expect(answer.status).toBe(status)
    expect(answer.body).toMatchObject({
      error: expect.any(String),
      message: expect.any(String),
      request_id: expect.any(String),
    })
    expect(JSON.stringify(answer.body)).not.toMatch(/node_modules|at .*\.js/)
  })

  it('with the wrong method says which one is right', async () => {
    const answer = await org.uploader.send<Refusal>('PUT', '/v1/data/shops', valid)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toContain('POST')
  })

  it('without a key, or with a wrong one, is a 401', async () => {
    for (const authorization of [
      '',
      'Bearer',
      'Bearer nonsense',
      'Basic Zm9v',
      `Bearer weir_aaaaaaaaaaaa_${'a'.repeat(38)}`,
    ]) {
      const answer = await post(valid, undefined, { authorization })
      expect(answer.status, authorization).toBe(401)
      expect(answer.body).toMatchObject({
        error: 'Unauthorized',
        message: expect.stringMatching(/invalid or missing/i),
      })
    }
  })
})

describe('a record that is wrong', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const cases: [string, string][] = [
    ['a number', '1'],
    ['null', 'null'],
    ['an array', '[[]]'],
    ['deeply nested', `{"name": ${deep}}`],
    ['a lone surrogate', `{"name": "\\ud800"}`],
    ['a NUL', `{"name": "\\u0000"}`],
    ['a key with a NUL and a lone surrogate', `{"a\\u0000\\udfff": 1, "shop_id": "\\u0000\\ud800"}`],
    ['__proto__', `{"__proto__": {"name": "x"}}`],
    ['a very long unknown key', `{"${'k'.repeat(100_000)}": 1}`],
  ]
  it.each(cases)('%s is refused, and its neighbour accepted', async (_, record) => {
    const neighbour = JSON.stringify(sampleOf(shop))
    const answer = await org.uploader.send<{ batches: { status: number }[] }>(
      'POST',
      '/v1/data/shops',
      `{"records": [${record}, ${neighbour}]}`,
    )
    expect(answer.status).toBe(207)
    expect(answer.body.batches.map(({ status }) => status)).toEqual([207])
  })
})

it('leaves everything running', async () => {
  expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200)
  expect((await org.uploader.upload('shops', [sampleOf(shop)])).status).toBe(200)
})
