import type { Server, ServerOptions } from 'node:http'
import type { FastifyHttpOptions } from 'fastify'
import { type Certificate, secureOptions } from './certificate.js'
import type { Network } from './network.js'

/** What Fastify needs to know to build the server for this network. */
export const serverOptionsOf = (
  network: Omit<Network, 'host' | 'certificate'>,
  certificate: Certificate | undefined,
) => {
  const { headersTimeout, requestTimeout } = network
  const http: ServerOptions = {
    headersTimeout,
    // Node looks for late sockets every 30 s by default: a deadline of 20 s would be one of 50.
    connectionsCheckingInterval: Math.min(1000, headersTimeout),
    // Whatever flags Node was started with: a lenient parser is how requests are smuggled.
    insecureHTTPParser: false,
  }
  const options = {
    requestTimeout,
    trustProxy: (address: string) => network.isTrustedProxy(address),
    ...(certificate
      ? { https: { ...http, ...secureOptions(certificate), handshakeTimeout: headersTimeout } }
      : { http }),
  }
  // Fastify's types tell servers with TLS from those without; nothing behind this line does.
  return options as Pick<FastifyHttpOptions<Server>, 'requestTimeout' | 'trustProxy' | 'http'>
}
