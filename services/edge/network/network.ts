import { type Includes, isLoopback, readAddresses } from './addresses.js'
import type { CertificateFiles } from './certificate.js'
import type { NetworkConfig } from './variables.js'

/** How clients reach the edge. */
export type Network = {
  host: string
  /** Absent where the edge speaks plain HTTP: on loopback, or to a proxy that speaks TLS for it. */
  certificate: CertificateFiles | undefined
  isTrustedProxy: Includes
  /** The origins of web pages that may call the edge. */
  origins: ReadonlySet<string>
  headersTimeout: number
  requestTimeout: number
}

/** The network that the environment describes; throws one error that names every problem with it. */
export const readNetwork = (config: NetworkConfig): Network => {
  const { EDGE_HOST: host, TLS_CERT: cert, TLS_KEY: key } = config
  const proxies = listOf(config.TRUST_PROXY)
  const { includes, unreadable } = readAddresses(proxies)
  const origins = listOf(config.CORS_ORIGINS)
  const problems = [
    ...(Boolean(cert) === Boolean(key)
      ? []
      : [`TLS_CERT and TLS_KEY go together; ${cert ? 'TLS_KEY' : 'TLS_CERT'} is not set`]),
    ...unreadable.map((entry) => `TRUST_PROXY takes addresses and ranges like 10.1.0.0/16, not ${entry}`),
    ...origins
      .filter((origin) => !isOrigin(origin))
      .map((origin) => `CORS_ORIGINS takes origins like https://app.example.com, not ${origin}`),
    ...(config.HEADERS_TIMEOUT_MS > config.REQUEST_TIMEOUT_MS
      ? ['HEADERS_TIMEOUT_MS must not exceed REQUEST_TIMEOUT_MS']
      : []),
    ...(isLoopback(host) || cert || key || proxies.length > 0 ? [] : [inTheClear(host)]),
  ]
  if (problems.length > 0) throw new Error(`the edge cannot start: ${problems.join('; ')}`)
  return {
    // For localhost Fastify opens a second server, which a new certificate would not reach.
    host: cert && host === 'localhost' ? '127.0.0.1' : host,
    certificate: cert ? { cert, key } : undefined,
    isTrustedProxy: includes,
    origins: new Set(origins),
    headersTimeout: config.HEADERS_TIMEOUT_MS,
    requestTimeout: config.REQUEST_TIMEOUT_MS,
  }
}

const inTheClear = (host: string) =>
  `on ${host} API keys would cross the network in the clear: set TLS_CERT and TLS_KEY, or TRUST_PROXY to the address of the proxy that speaks TLS, or EDGE_HOST to 127.0.0.1`

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean)

// As browsers send it: no path, no slash at the end, no default port. "*" and "null" are not origins.
const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
