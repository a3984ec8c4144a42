import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { bodyOf, callerOf } from '#http/request-context.js'
import { type RequestError, retryLater } from '#http/request-error.js'
import { addResource } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'
import { uploadOf } from '#schemas/endpoints/uploads.js'
import { recordsIn } from '#schemas/events.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import type { BatchLimits } from '../batches/batches.js'
import { createToEntry, sentIn, toEntries } from '../batches/entries.js'
import type { Submit } from '../batches/outcome.js'
import type { Body } from '../body/body.js'
import type { EdgeFigures } from '../figures.js'
import type { Lag } from '../limits/lag.js'
import type { RateLimits } from '../limits/rates.js'
import { type Answer, answerOf, overallStatus } from '../requests/answer.js'
import type { RequestNotes } from '../requests/notes.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import type { HideErased } from '../stream/hide-erased.js'
import { createDryRun, type FindKnown } from './dry-run.js'
import { formOf, type Preferences, readPrefer, readRecords } from './envelope.js'
import { createCheckVersions, type FindCurrent, type NoteMend, readIfVersion } from './if-version.js'
import { createReadLined } from './lined.js'
import { createReadEntries } from './straight.js'
import { createToUpload, createUploader, type Upload } from './upload.js'
import { asGiven, readWait } from './wait-query.js'

export type UploadDeps = {
  catalogue: Catalogue
  submit: Submit
  store: Pick<VerdictStore, 'ofRequest'>
  notes: Pick<RequestNotes, 'open'>
  findKnown: FindKnown
  hideErased: HideErased
  findCurrent: FindCurrent
  noteMend: NoteMend
  lag: Lag
  /** How wide the system is; throws while that is not known yet. */
  layout: () => Layout
  /** While the lanes of the system are being changed, what is to be waited for before a request is cut into batches. */
  untilSteady: () => Promise<void> | undefined
  batchLimits: BatchLimits
  rateLimits: RateLimits
  /** The shortest time that records may be had to wait for what they refer to, in milliseconds. */
  shortestWait: number
  figures: EdgeFigures
  now: () => number
}

/** POST /v1/data/{type}: an address for each type in the catalogue. */
export const addUploads = (app: FastifyInstance, deps: UploadDeps): void => {
  for (const type of deps.catalogue.all.values()) addUpload(app, type, deps)
}

/** An upload, and the lines of its records where its body has lines. */
type GivenUpload = Upload & { lines: readonly number[] | undefined }

const addUpload = (app: FastifyInstance, type: RecordType, deps: UploadDeps): void => {
  const toEntry = createToEntry(type)
  const toUpload = createToUpload(type, deps)
  const upload = createUploader(deps)
  const dryRun = createDryRun(type, deps)
  const checkVersions = createCheckVersions(type, deps)

  const readUpload = async (
    request: FastifyRequest,
    wait: number | undefined,
  ): Promise<GivenUpload | { error: RequestError }> => {
    const body = bodyOf<Body>(request)
    // The body is not needed any more once its records are read, and a request may wait for long.
    request.body = undefined
    if ('error' in body) return body
    const given = body.entries ? { records: body.entries } : readRecords(body.json, type)
    if ('error' in given) return given
    request.recordCount = given.records.length
    const tooMany = deps.rateLimits.takeRecords(request, given.records.length)
    if (tooMany) return { error: tooMany }
    const entries = body.entries ?? (await toEntries(toEntry, given.records, sentIn(body.sent)))
    const { orgId, keyId } = callerOf(request)
    const steady = deps.untilSteady()
    if (steady) await steady
    const upload = toUpload(entries, {
      orgId,
      requestId: request.id,
      bodySha256: body.sha256,
      keyed: request.idempotencyKey !== null,
      wait,
      keyId,
      traceparent: request.span?.traceparent,
    })
    return { ...upload, lines: body.lines }
  }

  const post = on(
    uploadOf(type),
    async ({ query }, request, reply) => {
      const waits = readWait(query, deps.shortestWait)
      if ('error' in waits) return waits
      const isDry = query.dry_run
      if (isDry) reply.header('weir-dry-run', 'true')
      const given = await readUpload(request, waits.wait)
      if ('error' in given) return given
      const stale = query.if_version && (await checkVersions(given, query.if_version, isDry))
      if (stale) return { error: stale }
      const prefer = readPrefer(request.headers.prefer)
      const patience = prefer.respondAsync ? (prefer.wait ?? 0) * 1000 : undefined
      const answered = await (isDry ? dryRun(given) : upload(given, patience))
      if ('error' in answered) return answered

      answered.results.forEach(({ outcome }, i) => {
        const batch = given.batches[i]
        if (batch) deps.figures.countRecords(type.type, isDry ? 'dry_run' : outcome, recordsIn(batch))
      })
      const answer = answerOf(given, answered.results)
      reply.code(overallStatus(answer.batches)).headers(headersOf(answer, prefer))
      return answer
    },
    {
      hasOwnBody: true,
      reads: { ...asGiven, if_version: readIfVersion },
      config: {
        takesIn: type.type,
        form: formOf(type),
        tooLarge: `send fewer records in each request, or the lines of NDJSON or CSV to /v1/imports/${type.type}, which takes a body of any length`,
        readEntries: createReadEntries(type, toEntry),
        readLined: createReadLined(type, toEntry),
      },
    },
  )
  addEndpoints(app, deps.catalogue, [post])
  addResource(app, `/v1/data/${type.type}/:id`, {}, (id = '') => {
    if (!hasVersions(type)) return `${type.type} have no addresses of their own, and stay as they were recorded`
    const form = formOf(type, { ...(isUuid(id) && { [type.id]: id }), is_deleted: true })
    return `a record has no address of its own; to delete one, POST it to /v1/data/${type.type} again with "is_deleted": true, as in ${form}`
  })
}

/** Where to ask for what is pending or waits, and when to try what failed again. */
const headersOf = ({ request_id, batches }: Answer, { wait }: Preferences): Record<string, string> => ({
  ...(batches.some(({ status, data }) => status === 202 || data.waiting) && { location: `/v1/requests/${request_id}` }),
  ...(batches.some(({ status }) => status === 202) && {
    'preference-applied': wait === undefined ? 'respond-async' : `respond-async, wait=${wait}`,
  }),
  ...(batches.some(({ status }) => status === 500) && retryLater),
})
