import { type Server, type ServerOptions, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { newId } from '#http/ids.js'
import { writeJson } from '#http/request-error.js'
import { type Certificate, secureOptions } from './certificate.js'
import type { Network } from './network.js'
import { securityHeaders } from './security.js'

// What the edge does with a connection besides answering requests on it: how it is opened, given up on, and closed.

/** What Fastify needs to know to build the server for this network. */
export const serverOptionsOf = (
  network: Omit<Network, 'host' | 'certificate'>,
  certificate: Certificate | undefined,
) => {
  const { headersTimeout, requestTimeout } = network
  const http: ServerOptions = {
    headersTimeout,
    // Node looks for late sockets every 30 s by default: a deadline of 20 s could turn out to be one of 50.
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
  // Fastify has one type for a server with TLS and another for one without; the rest of the edge treats both alike.
  return options as Pick<FastifyHttpOptions<Server>, 'requestTimeout' | 'trustProxy' | 'http'>
}

type Answerable = Pick<Socket, 'writable' | 'end' | 'destroy'> & { encrypted?: boolean }

const lingerMs = 1_000
const handshakeFailed = /^(ERR_SSL_|ERR_TLS_|EPROTO)/

/** The answer to what never became a request: broken HTTP, headers without end, a client that is too slow. */
export const socketError = (error: { code?: string }, socket: Answerable): void => {
  // A client that is gone cannot read an answer, nor can one that does not speak TLS where the edge does.
  if (error.code === 'ECONNRESET' || !socket.writable || handshakeFailed.test(error.code ?? '')) {
    socket.destroy()
    return
  }
  const requestId = newId()
  const { status, message } = answers[error.code ?? ''] ?? { status: 400, message: 'this is not HTTP as we know it' }
  const body = writeJson({ error: STATUS_CODES[status], message, request_id: requestId })
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
  // Long enough for a client to read the answer; a client that goes on sending would hold the socket open for ever.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const tooSlow = 'ERR_HTTP_REQUEST_TIMEOUT'
/** Whether this is about a request that did not arrive within the time that Node gives to all requests. */
export const isLate = (error: { code?: string }): boolean => error.code === tooSlow

const answers: Readonly<Record<string, { status: number; message: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: 'the headers are too large' },
  [tooSlow]: { status: 408, message: 'the request did not arrive in time' },
}

const mostReadOn = 64 * 1024 * 1024

/** For an answer before the body was read: the rest is read and thrown away, or the client would see only a reset. */
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

/** While the edge stops, every answer closes its connection; Fastify does so only for requests that come after the stop. */
export const addGoodbye = (app: FastifyInstance): void => {
  let isStopping = false
  app.addHook('preClose', async () => {
    isStopping = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (isStopping) reply.header('connection', 'close')
  })
}
