import { describe, expect, it } from 'vitest'
import { readConfig } from '#platform/process/config.js'
import { configSchema } from '../../../../services/edge/config.js'
import { readNetwork } from '../../../../services/edge/network/network.js'
import { createEdge } from '../edge.js'

const expected = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
}

describe('every answer', () => {
  const { send } = createEdge()
  it.each([
    ['GET', '/healthz', 200],
    ['GET', '/openapi.json', 200],
    ['GET', '/nothing', 404],
    ['PUT', '/v1/data/shops', 405],
    ['GET', '/v1/data/%E0%A4%A', 400],
    ['POST', '/v1/data/shops', 400],
    ['GET', `/v1/requests/${'x'.repeat(101)}`, 414],
  ] as const)('tells browsers to be careful: %s %s', async (method, url, status) => {
    const answer = await send(method, url)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      ...expected,
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    for (const name of ['server', 'x-powered-by', 'strict-transport-security', 'access-control-allow-origin', 'vary'])
      expect(answer.headers[name], name).toBeUndefined()
  })

  it('leaves /docs the policy that it needs to be shown', async () => {
    const { headers } = await send('GET', '/docs')
    expect(headers).toMatchObject(expected)
    expect(headers['content-security-policy']).toContain("script-src 'self'")
  })
})

describe('web pages', () => {
  const network = readNetwork(readConfig(configSchema, { CORS_ORIGINS: 'https://app.example, http://localhost:3000' }))
  const { app, send } = createEdge({ network })
  const preflight = (origin: string) =>
    app.inject({
      method: 'OPTIONS',
      url: '/v1/data/shops',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
    })

  it('of an origin that is named may ask first, without a key', async () => {
    const answer = await preflight('https://app.example')
    expect([answer.statusCode, answer.body]).toEqual([204, ''])
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        'authorization, content-type, content-encoding, idempotency-key, prefer, weir-analyst-password',
      'access-control-max-age': '600',
      vary: 'Origin',
    })
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
  })

  it('of an origin that is named may read every answer, also a refusal', async () => {
    for (const url of ['/v1/requests/0', '/healthz', '/nothing']) {
      const { headers } = await send('GET', url, undefined, { origin: 'http://localhost:3000', authorization: '' })
      expect(headers['access-control-allow-origin'], url).toBe('http://localhost:3000')
      expect(headers['access-control-expose-headers'], url).toContain('x-request-id')
    }
  })

  it.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null', '*'])(
    'of %s get nothing',
    async (origin) => {
      const answers = [await preflight(origin), await app.inject({ url: '/healthz', headers: { origin } })]
      for (const { headers } of answers) {
        expect(headers.vary).toBe('Origin')
        expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      }
      // As any request without a key.
      expect(answers[0]?.statusCode).toBe(401)
    },
  )

  it('get nothing at all where none is named', async () => {
    const answer = await createEdge().app.inject({ url: '/healthz', headers: { origin: 'https://app.example' } })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })
})
