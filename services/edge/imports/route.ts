import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type AskedOf, addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError, tryLater } from '#http/request-error.js'
import { importOf } from '#schemas/endpoints/uploads.js'
import type { RecordType } from '#schemas/record.js'
import { createToEntry } from '../batches/entries.js'
import { isGzipped } from '../body/body.js'
import { formatOf, type LinedFormat } from '../body/lines.js'
import type { Hold, Load } from '../limits/load.js'
import { readOn } from '../network/connections.js'
import { createDryRun } from '../uploads/dry-run.js'
import { createOpenLined } from '../uploads/lined.js'
import type { UploadDeps } from '../uploads/route.js'
import { createToUpload, createUploader } from '../uploads/upload.js'
import { asGiven, readWait } from '../uploads/wait-query.js'
import { createImportSlots, type ImportBounds } from './bounds.js'
import { begin, chunkBytes, createChunks, type Share } from './chunks.js'
import { runImport } from './import.js'
import { createPieces, ImportEnded, type Piece } from './pieces.js'

export type ImportRouteDeps = UploadDeps & {
  load: Load
  /** Sockets on which a request may take as long as it likes to arrive. */
  unhurried: WeakSet<object>
  importBounds: ImportBounds
  /** Milliseconds over which a body has to come at the least rate, and within which a client has to read what it is answered. */
  pieceWithin: number
}

type ImportBody = { format: LinedFormat; stream: Readable }

/** POST /v1/imports/{type}: lines of any number, each chunk of them decided like an upload; the answer goes out meanwhile. */
export const addImports = (app: FastifyInstance, deps: ImportRouteDeps): void => {
  const open = new Set<AbortController>()
  const takeSlot = createImportSlots(deps.importBounds.atOnce)
  app.addHook('preClose', async () => {
    for (const ending of open) ending.abort(new ImportEnded('the server is about to stop', 503))
  })
  app.register(async (imports) => {
    imports.removeAllContentTypeParsers()
    for (const [contentType, format] of Object.entries(formatOf))
      imports.addContentTypeParser(
        contentType,
        async (_request: FastifyRequest, stream: Readable): Promise<ImportBody> => ({ format, stream }),
      )
    for (const type of deps.catalogue.all.values()) addImport(imports, type, { ...deps, open, takeSlot })
  })
}

const addImport = (
  app: FastifyInstance,
  type: RecordType,
  deps: ImportRouteDeps & { open: Set<AbortController>; takeSlot: ReturnType<typeof createImportSlots> },
): void => {
  const openLines = createOpenLined(type, createToEntry(type))
  const toUpload = createToUpload(type, deps)
  const upload = createUploader(deps)
  const dryRun = createDryRun(type, deps)

  /** A signal for all that waits: the client has left, or the edge stops. */
  const endingOf = (request: FastifyRequest, reply: FastifyReply): AbortSignal => {
    const ending = new AbortController()
    const { socket } = request.raw
    deps.open.add(ending)
    deps.unhurried.add(socket)
    // It is silent while nothing is read, and that is for the deadlines below to judge.
    socket.setTimeout(0)
    whenClosed(reply, () => {
      deps.open.delete(ending)
      deps.unhurried.delete(socket)
      ending.abort(new ImportEnded('the client has left'))
    })
    return ending.signal
  }

  const start = async (
    { query }: AskedOf<ReturnType<typeof importOf>, typeof asGiven>,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Readable | { error: RequestError }> => {
    const waits = readWait(query, deps.shortestWait)
    if ('error' in waits) return waits
    const isDry = query.dry_run
    const body = request.body as ImportBody | undefined
    if (!body) return { error: requestError(400, 'the body is empty') }
    const { orgId, keyId } = callerOf(request)
    const slot = deps.takeSlot(orgId)
    if ('error' in slot) return slot
    whenClosed(reply, slot.leave)
    const signal = endingOf(request, reply)
    const leastRate = deps.importBounds.bytesPerSecond
    const options = { isGzipped: isGzipped(request), within: deps.pieceWithin, leastRate, signal }
    const readPiece = createPieces(body.stream, options)
    const nextPiece = async (): Promise<Piece> => {
      const piece = await readPiece()
      await untilTaken(() => deps.rateLimits.takeLater('bytes', request, piece.bytes.length), signal)
      return piece
    }
    const begun = await begin(openLines[body.format], nextPiece)
    if ('error' in begun) return begun
    if (begun.piece.isLast && begun.piece.bytes.length === 0) return { error: requestError(400, 'the body is empty') }
    if (isDry) reply.header('weir-dry-run', 'true')

    const lines = runImport({
      type,
      orgId,
      keyId,
      traceparent: request.span?.traceparent,
      requestId: request.id,
      keyed: request.idempotencyKey !== null,
      wait: waits.wait,
      nextChunk: createChunks(begun, {
        limit: type.limit,
        nextPiece,
        takeShare: () => takeShare(orgId, type.type, mostHeld(request), signal, deps),
      }),
      mayTake: async ({ entries }) => {
        await untilTaken(() => deps.rateLimits.takeLater('records', request, entries.length), signal)
        await deps.untilSteady()
      },
      toUpload,
      submit: (given, onWritten) => {
        if (!isDry) return upload(given, undefined, onWritten)
        onWritten(true)
        return dryRun(given)
      },
      onBatch: (outcome, records) => {
        request.recordCount = (request.recordCount ?? 0) + records
        deps.figures.countRecords(type.type, isDry ? 'dry_run' : outcome, records)
      },
      onFailure: (error) => request.log.error({ err: error, request_id: request.id }, 'import failed'),
    })
    return Readable.from(written(lines, request, reply, deps.pieceWithin), {
      objectMode: false,
      highWaterMark: mostUnread,
    })
  }

  const post = on(
    importOf(type),
    async (asked, request, reply) => {
      const answer = await start(asked, request, reply).catch(asError)
      if (!('error' in answer)) return reply.type('application/x-ndjson; charset=utf-8').send(answer)
      letGo(request, deps.pieceWithin)
      readOn(request, reply)
      return answer
    },
    { hasOwnBody: true, reads: asGiven, config: { takesIn: type.type } },
  )
  addEndpoints(app, deps.catalogue, [post])
}

/** Also where the client has left while its key was looked up: no further event would come. */
const whenClosed = ({ raw }: FastifyReply, work: () => void): void => {
  if (raw.closed) work()
  else raw.once('close', work)
}

// This much of an answer waits for a client that sends all of its body before it reads.
const mostUnread = 1024 * 1024

/** The lines as they are sent. A client that does not read them is given up on. */
async function* written(
  lines: AsyncIterable<unknown>,
  request: FastifyRequest,
  reply: FastifyReply,
  within: number,
): AsyncGenerator<string> {
  let unread: NodeJS.Timeout | undefined
  try {
    for await (const line of lines) {
      unread = setTimeout(() => reply.raw.destroy(), within)
      yield `${JSON.stringify(line)}\n`
      clearTimeout(unread)
    }
  } finally {
    clearTimeout(unread)
    letGo(request, within)
    // The rest of the body is of no use; the client has this long to read the last line.
    if (!request.raw.complete) setTimeout(() => request.raw.socket.destroy(), lingerMs).unref()
  }
}

const lingerMs = 2_000

/** Lets what is left of the body come and go unread. */
const letGo = ({ raw }: FastifyRequest, within: number): void => {
  raw.unpipe()
  raw.removeAllListeners('readable')
  raw.resume()
  raw.socket.setTimeout(within)
}

// How long an import waits while there is too much to do.
const roomWithin = 60_000
const lookEvery = 200

/** What a chunk may hold while it is read: reserved at once, since many that were read in part could all wait for room for the rest. */
const mostHeld = (request: FastifyRequest): number => {
  const declared = Number(request.headers['content-length'] ?? chunkBytes)
  return isGzipped(request) ? chunkBytes : Math.min(declared, chunkBytes)
}

/** Waits for an organisation's turn, as every large body does, and for room in memory. */
const takeShare = async (
  orgId: string,
  type: string,
  bytes: number,
  signal: AbortSignal,
  deps: Pick<ImportRouteDeps, 'load' | 'lag'>,
): Promise<Share> => {
  const inTime = within(roomWithin)
  for (;;) {
    signal.throwIfAborted()
    const isFree = deps.load.hasRoom(orgId, bytes, 'import') && !deps.lag.isPartlyLagging(type, orgId)
    const hold = isFree ? deps.load.hold(orgId, bytes, 'import') : undefined
    if (hold?.growTo(bytes) && (await hold.inTurn(async () => true))) return shareOf(hold, signal)
    hold?.release()
    inTime()
    await wait(lookEvery, signal)
  }
}

const shareOf = ({ growTo, shrinkTo, release }: Hold, signal: AbortSignal): Share => ({
  growTo: async (bytes) => {
    const inTime = within(roomWithin)
    while (!growTo(bytes)) {
      inTime()
      await wait(lookEvery, signal)
    }
  },
  shrinkTo,
  release,
})

const untilTaken = async (take: () => number, signal: AbortSignal): Promise<void> => {
  for (let ms = take(); ms > 0; ms = take()) await wait(ms, signal)
}

/** Throws once `ms` milliseconds have passed. */
const within = (ms: number): (() => void) => {
  const deadline = performance.now() + ms
  return () => {
    if (performance.now() > deadline) throw new ImportEnded('there was too much to do for too long', 503)
  }
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {
    throw signal.reason
  })

const asError = (error: unknown): { error: RequestError } => {
  if (!(error instanceof ImportEnded)) throw error
  return { error: (error.status === 503 ? tryLater : requestError)(error.status, error.message) }
}
