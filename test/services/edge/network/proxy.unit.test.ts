import { describe, expect, it } from 'vitest'
import { readConfig } from '#platform/process/config.js'
import { shop } from '#schemas/records/shop.js'
import { configSchema } from '../../../../services/edge/config.js'
import { readNetwork } from '../../../../services/edge/network/network.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'

const network = readNetwork(readConfig(configSchema, { TRUST_PROXY: '10.0.0.5,10.1.0.0/16' }))
const { app, submit } = createEdge({ network })
app.addHook('onRequest', async ({ ip, protocol, host }, reply) => {
  reply.header('x-seen', JSON.stringify({ ip, protocol, host }))
})

const upload = async (remoteAddress: string, headers: Record<string, string> = {}) => {
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/data/shops',
    remoteAddress,
    headers: { host: 'weir', authorization: 'Bearer acme-key', 'content-type': 'application/json', ...headers },
    payload: { records: [sampleOf(shop)] },
  })
  const seen = answer.headers['x-seen']
  return { answer, seen: seen === undefined ? undefined : JSON.parse(String(seen)) }
}

describe('from a proxy that is trusted', () => {
  it.each(['10.0.0.5', '10.1.2.3', '::ffff:10.0.0.5'])('%s, what came over https is taken', async (proxy) => {
    const { answer, seen } = await upload(proxy, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' })
    expect(answer.statusCode).toBe(200)
    expect(seen).toMatchObject({ ip: '203.0.113.7', protocol: 'https' })
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains')
  })

  it('counts a client by the last address that no proxy of ours wrote', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '1.1.1.1, 203.0.113.7, 10.1.0.9' }
    expect((await upload('10.0.0.5', forwarded)).seen.ip).toBe('203.0.113.7')
  })

  it.each(['http', '', undefined, 'http, https', 'https, http', 'wss', 'https,'])(
    'what came over %s is refused',
    async (protocol) => {
      const before = submit.submitted.length
      const { answer } = await upload('10.0.0.5', protocol === undefined ? {} : { 'x-forwarded-proto': protocol })
      expect(answer.statusCode).toBe(403)
      expect(answer.json()).toEqual({
        error: 'Forbidden',
        message: expect.stringContaining('use https'),
        request_id: answer.headers['x-request-id'],
      })
      expect(answer.headers.location).toBeUndefined()
      expect(submit.submitted.length).toBe(before)
    },
  )

  it('probes are answered, however they came', async () => {
    const get = async (url: string) => (await app.inject({ url, remoteAddress: '10.0.0.5' })).statusCode
    expect([await get('/healthz'), await get('/readyz?for=uploads'), await get('/metrics')]).toEqual([200, 200, 200])
    expect([await get('/docs'), await get('/openapi.json'), await get('/nothing')]).toEqual([403, 403, 403])
  })
})

it.each(['https', 'http'])('from this machine, forged headers (%s) change nothing', async (protocol) => {
  const forged = {
    'x-forwarded-proto': protocol,
    'x-forwarded-for': '10.0.0.5',
    'x-forwarded-host': 'evil.example',
    forwarded: `for=10.0.0.5;proto=${protocol}`,
  }
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    const { answer, seen } = await upload(address, forged)
    expect(answer.statusCode).toBe(200)
    expect(seen).toEqual({ ip: address, protocol: 'http', host: 'weir' })
    expect(answer.headers['strict-transport-security']).toBeUndefined()
  }
})

it.each(['203.0.113.9', '10.0.0.6', '::ffff:10.0.0.6', '2001:db8::1'])(
  'from elsewhere (%s), nothing is served but probes, whatever the headers say',
  async (address) => {
    const before = submit.submitted.length
    const { answer } = await upload(address, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '10.0.0.5' })
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ error: 'Forbidden', message: expect.stringMatching(/https.*TRUST_PROXY/) })
    expect(submit.submitted.length).toBe(before)
    const get = async (url: string) => (await app.inject({ url, remoteAddress: address })).statusCode
    expect([await get('/healthz'), await get('/openapi.json')]).toEqual([200, 403])
  },
)

it('serves addresses that are named for plain HTTP without a word about https, but not as proxies', async () => {
  const named = readNetwork(readConfig(configSchema, { EDGE_HOST: '0.0.0.0', PLAIN_HTTP_FROM: '10.213.57.0/24' }))
  const edge = createEdge({ network: named })
  const get = async (remoteAddress: string) =>
    (await edge.app.inject({ url: '/openapi.json', remoteAddress })).statusCode
  expect([await get('10.213.57.1'), await get('127.0.0.1'), await get('10.213.58.1')]).toEqual([200, 200, 403])
  expect([named.isTrustedProxy('10.213.57.1'), named.isServed('10.213.57.1')]).toEqual([false, true])
})

it('serves everybody over TLS, and on loopback alone', () => {
  const read = (env: Record<string, string>) => readNetwork(readConfig(configSchema, env))
  expect(read({ TRUST_PROXY: '10.0.0.5', TLS_CERT: 'c', TLS_KEY: 'k' }).isServed('203.0.113.9')).toBe(true)
  expect(read({}).isServed(undefined)).toBe(true)
  expect(() => read({ PLAIN_HTTP_FROM: '0.0.0.0/0' })).toThrow('PLAIN_HTTP_FROM takes addresses')
})
