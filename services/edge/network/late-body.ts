import type { FastifyReply, FastifyRequest } from 'fastify'

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
