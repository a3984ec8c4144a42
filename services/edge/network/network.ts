import { BlockList, isIP } from 'node:net'
import { type ConfigSchema, integer, string, type ValuesOf } from '#platform/process/config.js'
import { type Certificate, type CertificateFiles, checkCertificate, readFiles } from './certificate.js'

/** What an operator says about the network that the edge stands in. */
export const networkVariables = {
  EDGE_HOST: string(
    { default: '127.0.0.1' },
    'address that the edge listens on. Other than loopback only with TLS_CERT, TRUST_PROXY or PLAIN_HTTP_FROM',
  ),
  TLS_CERT: string(
    { default: '' },
    'file with the certificate and its chain (PEM); a change is taken up without a restart',
  ),
  TLS_KEY: string({ default: '' }, 'file with the private key of TLS_CERT (PEM)'),
  TRUST_PROXY: string(
    { default: '' },
    'addresses of the proxies whose forwarded headers count, like 10.0.0.5,10.1.0.0/16',
  ),
  PLAIN_HTTP_FROM: string(
    { default: '' },
    'addresses that may speak plain HTTP to the edge besides loopback and TRUST_PROXY, like 10.1.0.0/16',
  ),
  CORS_ORIGINS: string({ default: '' }, 'origins of web pages that may call the edge, like https://app.example.com'),
  HEADERS_TIMEOUT_MS: integer(
    { minimum: 100, default: 20_000 },
    'how long a TLS handshake, and then the headers of a request, may take to arrive',
  ),
  REQUEST_TIMEOUT_MS: integer({ minimum: 100, default: 60_000 }, 'how long a whole request may take to arrive'),
} as const satisfies ConfigSchema['properties']

export type NetworkConfig = ValuesOf<typeof networkVariables>

/** How clients reach the edge. */
export type Network = {
  host: string
  /** Absent where the edge speaks plain HTTP: on loopback, or to a proxy that speaks TLS for it. */
  certificate: CertificateFiles | undefined
  isTrustedProxy: Includes
  /** Whether a client at this address is served: over TLS everybody is, in the clear only those whom the operator named. */
  isServed: Includes
  /** The origins of web pages that may call the edge. */
  origins: ReadonlySet<string>
  headersTimeout: number
  requestTimeout: number
}

/** The network and its certificate. Throws where API keys would travel in the clear, or TLS would not work. */
export const openNetwork = (config: NetworkConfig): { network: Network; certificate: Certificate | undefined } => {
  const network = readNetwork(config)
  return { network, certificate: network.certificate && checkCertificate(readFiles(network.certificate)) }
}

/** The network that the environment describes; throws one error that names every problem with it. */
export const readNetwork = (config: NetworkConfig): Network => {
  const { EDGE_HOST: host, TLS_CERT: cert, TLS_KEY: key } = config
  const proxies = listOf(config.TRUST_PROXY)
  const { includes, unreadable } = readAddresses(proxies)
  const inTheClearFrom = listOf(config.PLAIN_HTTP_FROM)
  const named = readAddresses([...loopbackAddresses, ...proxies, ...inTheClearFrom])
  const isAnybodyNamed = proxies.length > 0 || inTheClearFrom.length > 0
  const origins = listOf(config.CORS_ORIGINS)
  const problems = [
    ...(Boolean(cert) === Boolean(key)
      ? []
      : [`TLS_CERT and TLS_KEY go together; ${cert ? 'TLS_KEY' : 'TLS_CERT'} is not set`]),
    ...unreadable.map((entry) => `TRUST_PROXY takes addresses and ranges like 10.1.0.0/16, not ${entry}`),
    ...readAddresses(inTheClearFrom).unreadable.map(
      (entry) => `PLAIN_HTTP_FROM takes addresses and ranges like 10.1.0.0/16, not ${entry}`,
    ),
    ...origins
      .filter((origin) => !isOrigin(origin))
      .map((origin) => `CORS_ORIGINS takes origins like https://app.example.com, not ${origin}`),
    ...(config.HEADERS_TIMEOUT_MS > config.REQUEST_TIMEOUT_MS
      ? ['HEADERS_TIMEOUT_MS must not exceed REQUEST_TIMEOUT_MS']
      : []),
    ...(isLoopback(host) || cert || key || isAnybodyNamed ? [] : [inTheClear(host)]),
  ]
  if (problems.length > 0) throw new Error(`the edge cannot start: ${problems.join('; ')}`)
  return {
    // For localhost Fastify opens a second server, which a new certificate would not reach.
    host: cert && host === 'localhost' ? '127.0.0.1' : host,
    certificate: cert ? { cert, key } : undefined,
    isTrustedProxy: includes,
    isServed: isAnybodyNamed && !cert ? named.includes : () => true,
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

/** Whether an address is in a set of addresses. */
export type Includes = (address: string | undefined) => boolean

/** A set of addresses and CIDR ranges, and the entries that are neither. */
export const readAddresses = (entries: readonly string[]): { includes: Includes; unreadable: string[] } => {
  // Node has one class for sets of addresses and calls it BlockList; nothing is blocked here.
  const list = new BlockList()
  const unreadable = entries.filter((entry) => !add(list, entry))
  // A client may write any text into X-Forwarded-For.
  const includes: Includes = (address = '') => isIP(address) !== 0 && list.check(address, familyOf(address))
  return { includes, unreadable }
}

const add = (list: BlockList, entry: string): boolean => {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  if (isIP(address) === 0) return false
  const family = familyOf(address)
  if (prefix === undefined) {
    list.addAddress(address, family)
    return true
  }
  // A prefix of 0 would be every address there is.
  if (Number(prefix) < 1 || Number(prefix) > (family === 'ipv4' ? 32 : 128)) return false
  list.addSubnet(address, Number(prefix), family)
  return true
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Whether an edge that listens on this host is reached from this machine alone. */
export const isLoopback = (host: string): boolean => host.toLowerCase() === 'localhost' || loopback.includes(host)

const loopbackAddresses = ['127.0.0.0/8', '::1']
const loopback = readAddresses(loopbackAddresses)
