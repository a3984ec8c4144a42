import { type Server, type ServerOptions, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { newId } from '../http/ids.js'
import { type Certificate, secureOptions } from './certificate.js'
import type { Network } from './network.js'
import { securityHeaders } from './security.js'

type Answerable = Pick<Socket, 'writable' | 'end' | 'destroy'> & { encrypted?: boolean }

const lingerMs = 1_000
const handshakeFailed = /^(ERR_SSL_|ERR_TLS_|EPROTO)/

/** The answer to what never became a request: broken HTTP, headers without end, a client that is too slow. */
export const socketError = (error: { code?: string }, socket: Answerable): void => {
  // A client that is gone hears nothing, and neither does one that speaks no TLS where TLS is spoken.
  if (error.code === 'ECONNRESET' || !socket.writable || handshakeFailed.test(error.code ?? '')) {
    socket.destroy()
    return
  }
  const requestId = newId()
  const { status, message } = answers[error.code ?? ''] ?? { status: 400, message: 'this is not HTTP as we know it' }
  const body = JSON.stringify({ error: STATUS_CODES[status], message, request_id: requestId })
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...Object.entries(securityHeaders(socket.encrypted ?? false)).map(([name, value]) => `${name}: ${value}`),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
  // Whoever goes on sending after this would hold the socket open; whoever reads it has had the time to.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const answers: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: 'the request did not arrive in time' },
}

const mostReadOn = 64 * 1024 * 1024

/**
 * A client reads our answer only when it has sent its body. Fastify would close the connection at once, and all the
 * client would see is a reset: the rest is read and thrown away instead, up to a bound.
 */
export const readOn = (request: FastifyRequest, reply: FastifyReply): void => {
  if (Number(request.headers['content-length'] ?? 0) > mostReadOn) return
  let read = 0
  request.raw.on('data', (chunk: Buffer) => {
    read += chunk.length
    if (read > mostReadOn) request.raw.destroy()
  })
  request.raw.resume()
  reply.removeHeader('connection')
}

/**
 * While the edge stops, every answer also ends its connection. Fastify says so to requests that come after the stop began;
 * those that were waiting then would leave a connection behind that holds up the stop, and takes a request too many.
 */
export const addGoodbye = (app: FastifyInstance): void => {
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isStopping) reply.header('connection', 'close')
  })
}

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
