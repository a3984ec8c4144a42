import type { FastifyInstance } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import { writeScope } from '#schemas/derive/scopes.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { RecordType } from '#schemas/record.js'
import { answerOf, overallStatus } from '../answer.js'
import { type BatchLimits, countOf, cut, toBatches } from '../batches.js'
import { bodyOf } from '../body.js'
import { toEntry } from '../entries.js'
import { readRecords } from '../envelope.js'
import type { Figures } from '../figures.js'
import { takeIdempotencyKey } from '../idempotency.js'
import type { RateLimits } from '../limits/rate-limits.js'
import { callerOf } from '../request-context.js'
import { sendError } from '../request-error.js'
import type { Submit } from '../submit.js'
import { createUploader } from '../upload.js'
import type { VerdictStore } from '../verdict-store.js'
import { addResource } from './resource.js'

export type UploadDeps = {
  catalogue: Catalogue
  submit: Submit
  store: Pick<VerdictStore, 'ofRequest'>
  batchLimits: BatchLimits
  rateLimits: RateLimits
  figures: Figures
  now: () => number
}

/** POST /v1/data/{type}: an address for each type in the catalogue. */
export const addUploads = (app: FastifyInstance, deps: UploadDeps): void => {
  for (const type of deps.catalogue.uploads.values()) addUpload(app, type, deps)
}

const addUpload = (app: FastifyInstance, type: RecordType, deps: UploadDeps): void => {
  const validate = createValidator(type)
  const upload = createUploader(deps)

  addResource(app, `/v1/data/${type.type}`, {
    POST: {
      config: { scope: writeScope(type.type) },
      onRequest: takeIdempotencyKey,
      handler: async (request, reply) => {
        const body = bodyOf(request)
        if ('error' in body) return sendError(reply, body.error)
        const envelope = readRecords(body.json, type)
        if ('error' in envelope) return sendError(reply, envelope.error)
        request.recordCount = envelope.records.length
        const tooMany = deps.rateLimits.takeRecords(request, envelope.records.length)
        if (tooMany) return sendError(reply, tooMany)

        const facts = {
          orgId: callerOf(request).orgId,
          requestId: request.id,
          bodySha256: body.sha256,
          submittedAt: deps.now(),
        }
        const slices = cut(
          envelope.records.map((given) => toEntry(validate, given)),
          deps.batchLimits,
        )
        const batches = toBatches(slices, facts)
        const result = await upload({ ...facts, type: type.type, keyed: request.idempotencyKey !== null, batches })
        if ('error' in result) return sendError(reply, result.error)

        result.parts.forEach(({ outcome }, i) => {
          const batch = batches[i]
          if (batch && outcome !== 'pending') deps.figures.countRecords(type.type, outcome, countOf(batch))
        })
        const answer = answerOf({ requestId: request.id, type: type.type }, result.parts)
        return reply.code(overallStatus(answer.batches)).send(answer)
      },
    },
  })
}
