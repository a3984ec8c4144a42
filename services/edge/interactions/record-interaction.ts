import { type EndpointRoute, on } from '#http/endpoint.js'
import { keyConflict, newId } from '#http/ids.js'
import { bodyOf, callerOf } from '#http/request-context.js'
import { type RequestError, requestError, tryLater } from '#http/request-error.js'
import type { Log } from '#platform/health/log.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { shortExampleOf } from '#schemas/derive/openapi/record-schema.js'
import { recordInteractionOf } from '#schemas/endpoints/interactions.js'
import type { Problem } from '#schemas/problem.js'
import { writeInstant } from '#schemas/read-instant.js'
import { keyedInteractionId } from '#schemas/uuid.js'
import { createToEntry, type Entry } from '../batches/entries.js'
import type { SentJson } from '../body/body.js'
import type { RateLimits } from '../limits/rates.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import { asGiven, readWait } from '../uploads/wait-query.js'
import type { Gather, Gathered } from './gather.js'

export type RecordInteractionDeps = {
  catalogue: Catalogue
  gather: Gather
  /** While the lanes of the system are being changed, what is to be waited for. */
  untilSteady: () => Promise<void> | undefined
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
export const createRecordInteraction = (deps: RecordInteractionDeps): EndpointRoute => {
  const { interaction } = deps.catalogue
  const toEntry = createToEntry(interaction)

  const record: Parameters<typeof on<ReturnType<typeof recordInteractionOf>, typeof asGiven>>[1] = async (
    { query },
    request,
    reply,
  ) => {
    const waits = readWait(query, deps.shortestWait)
    if ('error' in waits) return waits
    if (waits.wait !== undefined && callerOf(request).keyId === null) return { error: keyless }
    const body = bodyOf<SentJson>(request)
    if ('error' in body) return body
    request.recordCount = 1
    const tooMany = deps.rateLimits.takeRecords(request, 1)
    if (tooMany) return { error: tooMany }
    const steady = deps.untilSteady()
    if (steady) await steady
    const { orgId, keyId } = callerOf(request)
    const key = request.idempotencyKey
    const gather = (given: Entry, keyedId: string | null): Gathered => {
      // With a key, the request has its id already: the same each time that it is sent.
      const keyedRequestId = key === null ? null : request.id
      const facts = { bodySha256: body.sha256, keyedRequestId, keyedId, keyId, wait: waits.wait }
      const gathered = deps.gather(orgId, { entry: given, ...facts })
      // The answer names the id that rejections, events and look-ups know the interaction by.
      request.id = gathered.requestId
      return gathered
    }
    const id = key === null ? newId() : keyedInteractionId(orgId, key)
    const recordedAt = deps.now()
    const entry = toEntry(body.json, () => body.sent, { interaction_id: id, recorded_at: recordedAt })
    if ('refusal' in entry) {
      // Answered at once; it still goes out with the next batch, to be published as a rejection.
      gather(entry, null)
      return { error: refused(entry.refusal.problems) }
    }

    const created = (at: number) => {
      reply.code(201)
      return { ...(body.json as object), interaction_id: id, recorded_at: writeInstant(at) }
    }

    const before = key === null ? undefined : await deps.store.keyedInteraction(orgId, id)
    if (before) return before.bodySha256.equals(body.sha256) ? created(before.recordedAt) : { error: keyConflict }

    const keyed = { ...entry, keyedSha256: key === null ? null : body.sha256 }
    const outcome = await gather(keyed, key === null ? null : id).outcome
    if (outcome === 'unknown') return { error: unknown }
    if (outcome === 'accepted') return created(key === null ? recordedAt : await storedTime(orgId, id, recordedAt))
    if ('problems' in outcome) return { error: refused(outcome.problems) }
    const { for: references, until } = outcome.waiting
    // Without a time at which it was recorded: it is not yet, and with a key an earlier request may be the one that waits.
    reply.code(202).header('location', `/v1/requests/${request.id}`)
    return {
      ...(body.json as object),
      interaction_id: id,
      waiting: { for: references, until: writeInstant(until) },
    }
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
  return on(recordInteractionOf(interaction), record, {
    hasOwnBody: true,
    reads: asGiven,
    config: { takesIn: interaction.type, openOrg: deps.openOrg, form, tooLarge },
    bodyLimit: mostBytes,
  })
}

// One interaction is far smaller. Where INTERACTIONS_REQUIRE_KEY is false, anybody may send here.
const mostBytes = 64 * 1024

// What waits is stored for up to a week: strangers could fill what an organisation may have of it.
const keyless = requestError(400, 'missing_references=wait needs an API key: send Authorization: Bearer <key>')

const unknown = tryLater(500, 'outcome unknown; retrying with the same Idempotency-Key is safe')

const refused = (problems: Problem[]): RequestError => {
  if (problems.some(({ code }) => code === 'idempotency_conflict')) return { ...keyConflict, problems }
  return { status: 400, message: `the interaction was refused: ${problems[0]?.message}`, problems }
}
