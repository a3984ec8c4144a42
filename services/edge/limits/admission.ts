import { Transform } from 'node:stream'
import type { FastifyInstance, RequestPayload } from 'fastify'
import { callerOf } from '#http/request-context.js'
import { sendError, tryLater, Unavailable } from '#http/request-error.js'
import type { Hold, Load } from './load.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The share of the bytes in flight that this request's body has, once it is let in. */
    hold: Admitted | null
  }
}

type Admitted = Hold & { isAnswered: boolean; isClosed: boolean }

// A body up to this size counts in full from the start: to weigh each interaction's would cost more than it saves.
const small = 16 * 1024

const message = 'there is too much to do at the moment; try again in a few seconds'
export const overloaded = tryLater(503, `${message}; retrying is safe`)

/** Lets a body in only where there is room for it. One that does not fit is answered 503, at once or while it grows. */
export const addAdmission = (app: FastifyInstance, { load }: { load: Load }): void => {
  app.decorateRequest('hold', null)

  app.addHook('onRequest', async (request, reply) => {
    // A body without a declared size counts as it arrives.
    const declared = Number(request.headers['content-length'] ?? 0)
    // A body that is too large is answered 413, and never kept.
    if (request.method !== 'POST' || declared > request.routeOptions.bodyLimit) return undefined
    // A body that is never held as a whole is let in part by part.
    if (request.routeOptions.config.isStreamed) return undefined
    // The client left while its key was looked up: no further event would come on which to release the share.
    if (reply.raw.closed) return undefined
    const hold = load.hold(callerOf(request).orgId, declared)
    if (!hold) return sendError(reply, overloaded)
    if (declared <= small) hold.growTo(declared)
    const admitted = { ...hold, isAnswered: false, isClosed: false }
    request.hold = admitted
    reply.raw.once('close', () => {
      admitted.isClosed = true
      // A client that leaves after its body is complete has batches in memory until they are decided, so its share is
      // kept until the answer; one that leaves before that has nothing.
      if (admitted.isAnswered || !request.raw.complete) admitted.release()
    })
    return undefined
  })

  app.addHook('preParsing', async ({ hold, headers }, _reply, payload) => {
    const isSmall = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= small
    return !hold || isSmall ? payload : weighed(payload, hold)
  })

  app.addHook('onSend', async ({ hold }) => {
    if (!hold) return
    hold.isAnswered = true
    if (hold.isClosed) hold.release()
  })
}

const weighed = (payload: RequestPayload, hold: Hold): RequestPayload => {
  let size = 0
  const scales = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      size += chunk.length
      if (hold.growTo(size)) done(null, chunk)
      else done(new Unavailable(message))
    },
  })
  // Not stream.pipeline: that would close the connection that the answer has to go out on.
  payload.once('error', (error: Error) => scales.destroy(error))
  return payload.pipe(scales)
}
