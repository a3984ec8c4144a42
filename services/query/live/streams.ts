import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { bearerOf, type FindCaller } from '#http/authenticate.js'
import { callerOf } from '#http/request-context.js'
import { sendError, tryLater } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { allows } from '#schemas/derive/scopes.js'

/** Server-sent events to one client. */
export type EventStream = {
  send: (event: string, data: unknown) => void
  /** Called once, when the client has left or the stream was ended. */
  onEnd: (work: () => void) => void
  /** Ends it, with a reason for its reader. */
  end: (reason: string) => void
}

export type Streams = ReturnType<typeof addStreams>

// Each is a connection and a little memory. A page has one or two; several tabs may be open.
export const mostOfKey = 4
const mostInAll = 200
// What a client has not read yet. A history is some kilobytes, an event of a topic rarely more than one.
const mostUnread = 1024 * 1024
const lingerMs = 1_000
const signOfLife = ': \n\n'
const signOfLifeEvery = 10_000
// A key that was revoked is forgotten by the edge at once, and asked for again here.
const askForKeyEvery = 5_000

export const addStreams = (app: FastifyInstance, deps: { findCaller: FindCaller; catalogue: Catalogue }) => {
  const open = new Map<object, { owner: string; end: (reason: string) => void }>()
  app.addHook('preClose', async () => {
    for (const { end } of open.values()) end('the server is about to stop')
  })

  const mayGoOn = async (request: FastifyRequest): Promise<boolean> => {
    const key = bearerOf(request.headers.authorization)
    const { scope } = request.routeOptions.config
    try {
      const caller = key === undefined ? undefined : await deps.findCaller(key)
      return caller !== undefined && (scope === undefined || allows(caller.scopes, scope, deps.catalogue))
    } catch {
      // That keys cannot be checked at the moment says nothing about this one.
      return true
    }
  }

  return {
    /**
     * Answers with a stream that stays open; it ends with the client, its key or scope, the edge, or where nothing is read. `leave` gives
     * back what the stream needs, and is called once in any case: also where no stream is opened, or its client has left before.
     */
    open: (
      request: FastifyRequest,
      reply: FastifyReply,
      leave: () => void,
      begin: (stream: EventStream) => void,
    ): FastifyReply => {
      const { keyId, orgId } = callerOf(request)
      const owner = keyId ?? orgId
      const own = [...open.values()].filter((each) => each.owner === owner).length
      if (own >= mostOfKey || open.size >= mostInAll) {
        leave()
        return sendError(reply, own >= mostOfKey ? tooMany : full)
      }
      reply.type('text/event-stream; charset=utf-8').headers({
        // Proxies that gather an answer before they pass it on would pass on nothing.
        'x-accel-buffering': 'no',
        // After the stream has ended the connection is of no use to anybody.
        connection: 'close',
      })
      // A connection that is closed already will not say so again.
      if (request.method === 'HEAD' || reply.raw.destroyed) {
        leave()
        return reply.send()
      }

      const out = new PassThrough()
      const afterwards = [leave]
      let hasWritten = false
      const write = (text: string): void => {
        hasWritten = true
        if (out.writableEnded || out.destroyed) return
        out.write(text)
        if (out.readableLength + out.writableLength > mostUnread) reply.raw.destroy()
      }
      const send = (event: string, data: unknown): void => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      const close = (): void => {
        if (!open.delete(out)) return
        clearInterval(life)
        clearInterval(check)
        for (const work of afterwards) work()
      }
      const end = (reason: string): void => {
        send('end', { reason })
        out.end()
        // A client that does not read must not hold up a stop.
        setTimeout(() => reply.raw.destroy(), lingerMs).unref()
        close()
      }
      const life = setInterval(() => write(signOfLife), signOfLifeEvery)
      const check = setInterval(async () => {
        if (!(await mayGoOn(request))) end('the API key has ended')
      }, askForKeyEvery)
      open.set(out, { owner, end })
      reply.raw.once('close', () => {
        close()
        out.destroy()
      })
      try {
        begin({ send, onEnd: (work) => afterwards.push(work), end })
      } catch (error) {
        close()
        throw error
      }
      // Node sends the head of an answer with its first bytes: without any, the client would not know that it is connected.
      if (!hasWritten) write(signOfLife)
      return reply.send(out)
    },
  }
}

const tooMany = tryLater(429, `this API key has ${mostOfKey} live streams open; close one of them first`)
const full = tryLater(503, 'too many live streams are open at this edge; try again in a few seconds; retrying is safe')
