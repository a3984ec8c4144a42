import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FeedCursor, readCursor, writeCursor } from '#feeds/cursor.js'
import { toShown } from '#feeds/event-json.js'
import type { FeedStart } from '#feeds/feed.js'
import { bearerOf, type FindCaller } from '#http/authenticate.js'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError, tryLater } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { allows, dataRead } from '#schemas/derive/scopes.js'
import { readFeed, readFeeds } from '#schemas/endpoints/downstream/feeds.js'
import { writeJson } from '#schemas/json-text.js'
import type { RecordType } from '#schemas/record.js'
import { formOf, type WritePage } from './forms.js'
import { type FeedReader, type FeedReaders, TooManyReaders } from './readers.js'

export type FeedDeps = { catalogue: Catalogue; feedReaders: FeedReaders; writePage: WritePage; findCaller: FindCaller }

// A stream is read in pieces of this size, each when the one before has left; so a slow reader holds no more than that.
const streamedAtOnce = 500
const signOfLife = ': \n\n'
const signOfLifeEvery = 15_000

/** GET /v1/feeds and GET /v1/feeds/{type}: what was accepted for one's own organisation, from anywhere on. */
export const addFeeds = (app: FastifyInstance, deps: FeedDeps): void => {
  const { catalogue, feedReaders, writePage } = deps
  app.addHook('preClose', async () => feedReaders.stop())

  type Asked = { after: string; limit: number; wait: string }
  const answer = async (request: FastifyRequest, reply: FastifyReply, types: readonly RecordType[], asked: Asked) => {
    const { orgId } = callerOf(request)
    const form = formOf(request)
    const lastSeen = form === 'stream' ? request.headers['last-event-id'] : undefined
    const place = readPlace(orgId, types, typeof lastSeen === 'string' ? lastSeen : asked.after)
    if ('error' in place) return place
    const reader = feedReaders.open(orgId, types)
    reply.raw.once('close', reader.leave)
    // The server ends connections that are silent for long. With its next request, the connection is one of those again.
    reply.raw.setTimeout(0, () => {})
    try {
      const cursor = 'start' in place ? await reader.begin(place.start) : place.cursor
      if (form === 'stream') return sendStream(request, reply, reader, cursor)
      const page = await reader.next(cursor, asked.limit, performance.now() + Number.parseInt(asked.wait, 10) * 1000)
      if (page === 'gone') return { error: gone(cursor) }
      // The key may have ended while its caller waited.
      if (page.events.length > 0 && !(await mayGoOn(request))) return { error: ended }
      return await writePage(reply, form, types, { events: page.events, next: writeCursor(orgId, page.cursor) })
    } catch (error) {
      if (error instanceof TooManyReaders) return { error: tooMany }
      throw error
    }
  }

  const mayGoOn = async (request: FastifyRequest): Promise<boolean> => {
    const key = bearerOf(request.headers.authorization)
    const caller = key === undefined ? undefined : await deps.findCaller(key)
    return caller !== undefined && allows(caller.scopes, dataRead, catalogue)
  }

  /** What was accepted, as server-sent events: each has the cursor behind it as its id. */
  async function* streamOf(request: FastifyRequest, reader: FeedReader, from: FeedCursor): AsyncGenerator<string> {
    const { orgId } = callerOf(request)
    yield signOfLife
    for (let cursor = from; ; ) {
      const page = await reader.next(cursor, streamedAtOnce, performance.now() + signOfLifeEvery)
      if (page === 'gone') return yield `event: gone\ndata: ${JSON.stringify(goneAs(cursor))}\n\n`
      if (!(await mayGoOn(request))) return yield `event: end\ndata: ${JSON.stringify({ reason: ended.message })}\n\n`
      const next = writeCursor(orgId, page.cursor)
      // The cursor behind a page is that of its last event. Whoever goes on from one before it gets some of the page again.
      const before = writeCursor(orgId, cursor)
      const lines = page.events.map(
        (event, n) => `id: ${n === page.events.length - 1 ? next : before}\ndata: ${writeJson(toShown(event))}\n\n`,
      )
      yield lines.length > 0 ? lines.join('') : signOfLife
      if (feedReaders.isStopping()) return
      cursor = page.cursor
    }
  }

  const sendStream = (request: FastifyRequest, reply: FastifyReply, reader: FeedReader, cursor: FeedCursor) =>
    reply
      .type('text/event-stream; charset=utf-8')
      // Proxies that gather an answer before they pass it on would pass on nothing.
      .headers({ 'x-accel-buffering': 'no', connection: 'close' })
      .send(Readable.from(streamOf(request, reader, cursor)))

  const one = on(readFeed, async ({ parameters, query }, request, reply) => {
    const type = catalogue.all.get(parameters.type)
    if (!type) return { error: noSuchType(parameters.type, catalogue) }
    return answer(request, reply, [type], query)
  })
  const several = on(readFeeds, async ({ query: { types: given, ...asked } }, request, reply) => {
    const names = given === 'all' ? [...catalogue.all.keys()] : given.split(',').map((name) => name.trim())
    const unknown = names.find((name) => !catalogue.all.has(name))
    if (unknown !== undefined) return { error: { ...noSuchType(unknown, catalogue), status: 400 } }
    const types = [...catalogue.all.values()].filter(({ type }) => names.includes(type))
    return answer(request, reply, types, asked)
  })
  addEndpoints(app, catalogue, [one, several])
}

/** Where a reader wants to go on. */
const readPlace = (
  orgId: string,
  types: readonly RecordType[],
  after: string,
): { start: FeedStart } | { cursor: FeedCursor } | { error: RequestError } => {
  if (after === 'beginning' || after === 'now') return { start: after }
  if (/^\d{4}-\d{2}-\d{2}/.test(after)) {
    const time = new Date(/[zZ]$|[+-]\d{2}:?\d{2}$/.test(after) || after.length === 10 ? after : `${after}Z`)
    return Number.isNaN(time.getTime()) ? refuse(notAPlace) : { start: time }
  }
  const cursor = readCursor(orgId, after)
  if (cursor === undefined) return refuse(notAPlace)
  if (cursor === 'foreign') return refuse('this cursor belongs to another organisation; begin with after=beginning')
  const names = [...cursor.positions.keys()]
  const isSame = names.length === types.length && types.every(({ type }) => cursor.positions.has(type))
  return isSame
    ? { cursor }
    : refuse(`this cursor is of ${names.join(', ')}: ask for the same types with it, or begin anew`)
}

const notAPlace = 'after must be beginning, now, a time like 2026-01-31T12:00:00Z, or the next of an answer'
const refuse = (message: string): { error: RequestError } => ({ error: requestError(400, message) })

/** As long before the moment that a cursor names as clocks may differ. */
const margin = 60_000
const goneAs = ({ at }: FeedCursor) => {
  const restart = at > margin ? new Date(at - margin).toISOString() : 'beginning'
  const message = `what comes after this cursor is no longer kept; go on with after=${restart}, and every record that changed since then comes as it is now`
  return { message, restart }
}
const gone = (cursor: FeedCursor): RequestError => {
  const { message, restart } = goneAs(cursor)
  return { status: 410, message, more: { restart } }
}

const tooMany = tryLater(
  429,
  'too many readers of your organisation wait at this edge; let programs share what one reads',
)
const ended = requestError(401, 'the API key has ended, or may no longer read')

const noSuchType = (given: string, catalogue: Catalogue): RequestError => {
  const types = [...catalogue.all.keys()]
  const close = nearest(given, types)
  return requestError(
    404,
    `there is no such type; ${close ? `did you mean ${close}? ` : ''}the types are ${types.join(', ')}`,
  )
}
