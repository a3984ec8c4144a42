import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { newId } from '../http/ids.js'
import { securityHeaders } from './security-headers.js'

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
