import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createTokenSource } from '#platform/kafka/oauth-token.js'

type Question = { authorization: string | undefined; body: string }
const asked: Question[] = []
let answer: { status: number; body: unknown } = { status: 200, body: {} }
let url = ''
let now = 0

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  asked.push({ authorization: request.headers.authorization, body: Buffer.concat(chunks).toString() })
  const body = typeof answer.body === 'function' ? answer.body() : answer.body
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
})
afterAll(() => server.close())
beforeEach(() => {
  asked.length = 0
  now = 1_000_000
  answer = { status: 200, body: () => ({ access_token: `token-${asked.length}`, expires_in: 200 }) }
})

const source = (extra: { scope?: string } = {}) =>
  createTokenSource({ url, clientId: 'weir edge', clientSecret: 'a:b/ü', ...extra }, () => now)

it('shows the client and its secret as the standard says, and asks for the scope', async () => {
  await source({ scope: 'kafka' })()
  const [{ authorization = '', body } = { body: '' }] = asked
  const [id = '', secret = ''] = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':')
  expect([id, secret].map((part) => decodeURIComponent(part.replaceAll('+', ' ')))).toEqual(['weir edge', 'a:b/ü'])
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({ grant_type: 'client_credentials', scope: 'kafka' })
})

it('asks once for all connections, and again before the token ends', async () => {
  const token = source()
  expect(await Promise.all([token(), token(), token()])).toEqual(['token-1', 'token-1', 'token-1'])
  now += 159_000
  expect(await token()).toBe('token-1')
  now += 2_000
  expect(await token()).toBe('token-2')
})

it('goes on with the old token while the endpoint is away, but not beyond its end', async () => {
  const token = source()
  await token()
  answer = { status: 503, body: {} }
  now += 190_000
  expect(await token()).toBe('token-1')
  now += 11_000
  await expect(token()).rejects.toThrow(`the token endpoint ${url} answers 503`)
})

it('hands out no token that is about to end', async () => {
  answer = { status: 200, body: () => ({ access_token: `token-${asked.length}`, expires_in: 60 }) }
  const token = source()
  await token()
  now += 29_000
  expect(await token()).toBe('token-1')
  now += 2_000
  expect(await token()).toBe('token-2')
})

it('uses a token once that does not say how long it lives', async () => {
  answer = { status: 200, body: () => ({ access_token: `token-${asked.length}` }) }
  const token = source()
  expect([await token(), await token()]).toEqual(['token-1', 'token-2'])
})

it('says in one line what to check', async () => {
  answer = { status: 401, body: { error: 'invalid_client' } }
  await expect(source()()).rejects.toThrow(
    `the token endpoint ${url} gives no token (401, {"error":"invalid_client"}): check KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE`,
  )
  answer = { status: 200, body: { hello: 1 } }
  await expect(source()()).rejects.toThrow('answers without an access_token: check KAFKA_OAUTH_TOKEN_URL')
  const nobody = createTokenSource({ url: 'http://127.0.0.1:1/token', clientId: 'a', clientSecret: 'b' })
  await expect(nobody()).rejects.toThrow('KAFKA_OAUTH_TOKEN_URL says where it is')
})
