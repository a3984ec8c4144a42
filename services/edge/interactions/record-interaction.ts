import type { FastifyReply, FastifyRequest } from 'fastify'
import { bodyOf } from '#http/body.js'
import { keyConflict, newId, takeIdempotencyKey } from '#http/ids.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError, retryLater, sendError } from '#http/request-error.js'
import type { Log } from '#platform/health/log.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { shortExampleOf } from '#schemas/derive/openapi/record-schema.js'
import { writeScope } from '#schemas/derive/scopes.js'
import { shorten } from '#schemas/derive/validator.js'
import type { Problem } from '#schemas/problem.js'
import { writeInstant } from '#schemas/read-instant.js'
import { keyedInteractionId } from '#schemas/uuid.js'
import { createToEntry, type Entry } from '../batches/entries.js'
import type { RateLimits } from '../limits/rates.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import { readWait, waitNames } from '../uploads/wait-query.js'
import type { Gather, Gathered } from './gather.js'

export type RecordInteractionDeps = {
  catalogue: Catalogue
  gather: Gather
  rateLimits: RateLimits
  store: Pick<VerdictStore, 'keyedInteraction'>
  /** The organisation that interactions without a key belong to; undefined where a key is needed. */
  openOrg: string | undefined
  /** The shortest time that one may be had to wait for what it refers to, in milliseconds. */
  shortestWait: number
  now: () => number
  log: Log
}

/** POST /user-interactions: one interaction, answered once its verdict is known. */
export const createRecordInteraction = (deps: RecordInteractionDeps) => {
  const { interaction } = deps.catalogue
  const toEntry = createToEntry(interaction)

  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const query = readQuery(request.query, deps.shortestWait)
    if ('error' in query) return sendError(reply, query.error)
    if (query.wait !== undefined && callerOf(request).keyId === null) return sendError(reply, keyless)
    const body = bodyOf(request)
    if ('error' in body) return sendError(reply, body.error)
    request.recordCount = 1
    const tooMany = deps.rateLimits.takeRecords(request, 1)
    if (tooMany) return sendError(reply, tooMany)
    const { orgId, keyId } = callerOf(request)
    const key = request.idempotencyKey
    const gather = (given: Entry, keyedId: string | null): Gathered => {
      // With a key, the request has its id already: the same each time that it is sent.
      const keyedRequestId = key === null ? null : request.id
      const facts = { bodySha256: body.sha256, keyedRequestId, keyedId, keyId, wait: query.wait }
      const gathered = deps.gather(orgId, { entry: given, ...facts })
      // The answer names the id that rejections, events and look-ups know the interaction by.
      request.id = gathered.requestId
      return gathered
    }
    const id = key === null ? newId() : keyedInteractionId(orgId, key)
    const recordedAt = deps.now()
    const entry = toEntry(body.json, { interaction_id: id, recorded_at: recordedAt })
    if ('refusal' in entry) {
      // Answered at once. It still goes out with the next batch, to be published as a rejection; the client does not
      // wait for that.
      gather(entry, null)
      return sendError(reply, refused(entry.refusal.problems))
    }

    const created = (at: number) =>
      reply.code(201).send({ ...(body.json as object), interaction_id: id, recorded_at: writeInstant(at) })

    const before = key === null ? undefined : await deps.store.keyedInteraction(orgId, id)
    if (before)
      return before.bodySha256.equals(body.sha256) ? created(before.recordedAt) : sendError(reply, keyConflict)

    const keyed = { ...entry, keyedSha256: key === null ? null : body.sha256 }
    const outcome = await gather(keyed, key === null ? null : id).outcome
    if (outcome === 'unknown') return sendError(reply, unknown)
    if (outcome === 'accepted') return created(key === null ? recordedAt : await storedTime(orgId, id, recordedAt))
    if ('problems' in outcome) return sendError(reply, refused(outcome.problems))
    const { for: references, until } = outcome.waiting
    // Without a time at which it was recorded: it is not yet, and with a key an earlier request may be the one that waits.
    return reply
      .code(202)
      .header('location', `/v1/requests/${request.id}`)
      .send({
        ...(body.json as object),
        interaction_id: id,
        waiting: { for: references, until: writeInstant(until) },
      })
  }

  // Of two requests with one key at the same time only the first is recorded: both answers carry its time.
  const storedTime = async (orgId: string, id: string, ours: number): Promise<number> => {
    try {
      return (await deps.store.keyedInteraction(orgId, id))?.recordedAt ?? ours
    } catch (error) {
      deps.log.warn({ err: error }, 'could not read when a keyed interaction was recorded')
      return ours
    }
  }

  const form = JSON.stringify(shortExampleOf(interaction))
  const tooLarge = 'an interaction with every field filled takes a few kB; send one in each request'
  const config = { scope: writeScope(interaction.type), openOrg: deps.openOrg, form, tooLarge }
  return { config, bodyLimit: mostBytes, onRequest: takeIdempotencyKey, handler }
}

// One interaction is far smaller. Where INTERACTIONS_REQUIRE_KEY is false, anybody may send here.
const mostBytes = 64 * 1024

/** A client that asks for a dry run here must not record in earnest, so every parameter that is unknown is refused. */
const readQuery = (given: unknown, shortestWait: number): ReturnType<typeof readWait> => {
  const name = Object.keys(given as object).find((one) => !(waitNames as readonly string[]).includes(one))
  if (name === undefined) return readWait(given as object, shortestWait)
  if (nearest(name, ['dry_run']))
    return { error: requestError(400, 'dry_run is for uploads, POST /v1/data/{type}; not for interactions') }
  const close = nearest(name, waitNames)
  const hint = close ? `did you mean ${close}?` : `known are ${waitNames.join(', ')}`
  return { error: requestError(400, `there is no query parameter ${JSON.stringify(shorten(name))} here; ${hint}`) }
}

// What waits is stored for up to a week: strangers could fill what an organisation may have of it.
const keyless = requestError(400, 'missing_references=wait needs an API key: send Authorization: Bearer <key>')

const unknown: RequestError = {
  ...requestError(500, 'outcome unknown; retrying with the same Idempotency-Key is safe'),
  headers: retryLater,
}

const refused = (problems: Problem[]): RequestError => {
  if (problems.some(({ code }) => code === 'idempotency_conflict')) return { ...keyConflict, problems }
  return { status: 400, message: `the interaction was refused: ${problems[0]?.message}`, problems }
}
