import { describe, expect, it } from 'vitest'
import { readConfig } from '#platform/process/config.js'
import { configSchema } from '../../../../services/edge/config.js'
import { isLoopback, readAddresses, readNetwork } from '../../../../services/edge/network/network.js'

const read = (env: Record<string, string>) => readNetwork(readConfig(configSchema, env))

describe('the address that the edge listens on', () => {
  it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', 'localhost', 'LOCALHOST'])('%s is loopback', (host) => {
    expect(isLoopback(host)).toBe(true)
    expect(read({ EDGE_HOST: host }).host).toBe(host)
  })

  it.each(['0.0.0.0', '::', '10.0.0.1', '128.0.0.1', 'fe80::1', 'weir.example.com', 'localhost.example.com'])(
    '%s needs TLS or a proxy',
    (host) => {
      expect(() => read({ EDGE_HOST: host })).toThrow(
        /^the edge cannot start: on .* in the clear.*TLS_CERT.*TRUST_PROXY/,
      )
      expect(read({ EDGE_HOST: host, TLS_CERT: 'c', TLS_KEY: 'k' }).certificate).toEqual({ cert: 'c', key: 'k' })
      expect(read({ EDGE_HOST: host, TRUST_PROXY: '10.0.0.5' }).host).toBe(host)
    },
  )
})

it('tells everything that is wrong at once, in one line', () => {
  const env = {
    EDGE_HOST: '0.0.0.0',
    TLS_CERT: '/cert.pem',
    TRUST_PROXY: '10.0.0.5,everybody',
    CORS_ORIGINS: '*',
    HEADERS_TIMEOUT_MS: '2000',
    REQUEST_TIMEOUT_MS: '1000',
  }
  expect(() => read(env)).toThrow(/TLS_KEY is not set.*not everybody.*not \*.*HEADERS_TIMEOUT_MS/)
  expect(() => read({ TLS_KEY: '/key.pem' })).toThrow('TLS_CERT is not set')
})

it.each(['*', 'null', 'https://a.example/', 'https://a.example/x', 'https://a.example:443', 'a.example', 'file://x'])(
  'does not take %s for an origin',
  (origin) => expect(() => read({ CORS_ORIGINS: `https://ok.example, ${origin}` })).toThrow('CORS_ORIGINS'),
)

describe('the addresses of proxies', () => {
  const { includes, unreadable } = readAddresses(['10.0.0.5', '192.168.0.0/16', '2001:db8::/32'])

  it.each(['10.0.0.5', '::ffff:10.0.0.5', '192.168.7.7', '2001:db8::9'])('include %s', (address) => {
    expect(unreadable).toEqual([])
    expect(includes(address)).toBe(true)
  })

  it.each(['10.0.0.6', '192.169.0.1', '2001:db9::', '::1', 'unknown', '', undefined])('do not include %s', (address) =>
    expect(includes(address)).toBe(false),
  )

  it.each(['0.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0', 'proxy.example', '10.0.0.0/8/8', '10.0.0.1/', 'true'])(
    'are not written %s',
    (entry) => expect(readAddresses([entry]).unreadable).toEqual([entry]),
  )
})
