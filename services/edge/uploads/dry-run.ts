import { Unavailable } from '#http/request-error.js'
import { entityName, findEntities } from '#ledger/entities.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { createBatchCodec } from '#schemas/byte-path/byte-path.js'
import { createDecide } from '#schemas/decide.js'
import type { Values } from '#schemas/field.js'
import { createReferencesOf, type RecordType, type Reference } from '#schemas/record.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import type { HideErased } from '../stream/hide-erased.js'
import { answeredBefore, type Upload, type UploadResult } from './upload.js'

/** Finds out which of these references point to records of the organisation that integrity has accepted. */
export type FindKnown = (
  orgId: string,
  references: readonly Reference[],
) => Promise<(reference: Pick<Reference, 'type' | 'id'>) => boolean>

/** What an upload of this type would be answered now. Nothing is published or stored, no Idempotency-Key used up. */
export const createDryRun = (
  type: RecordType,
  deps: { findKnown: FindKnown; hideErased: HideErased; store: Pick<VerdictStore, 'ofRequest'>; now: () => number },
) => {
  const referencesOf = createReferencesOf(type)
  const decide = createDecide(type)
  const { encode, decode } = createBatchCodec(type)

  return async (upload: Upload): Promise<UploadResult> => {
    const before = await answeredBefore(upload, deps)
    if ('error' in before || 'results' in before) return before
    // As integrity would read them.
    const batches = (await deps.hideErased(type.type, upload.batches)).map((batch) => decode(encode(batch)))
    const references = batches.flatMap(({ records }) => records.flatMap((record) => referencesOf(record as Values)))
    // Asked even where there are no references: while Postgres is away the upload would not be decided either.
    const isKnown = await deps.findKnown(upload.orgId, references)
    // Only interactions that come by themselves are keyed one by one, and they have no dry run. What was decided under the
    // request's key is looked up above.
    // Whether another record of an id waits changes nothing of an answer, except where the organisation may have no more of them.
    const world = {
      isKnown,
      takenBefore: () => undefined,
      bodyOf: () => undefined,
      waiting: () => undefined,
      roomToWait: { records: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
      sizeOf: () => 0,
    }
    return {
      results: batches.map((batch) => ({
        batch: batch.batch,
        batchId: batch.batch_id,
        outcome: { verdict: decide(batch, world, deps.now()) },
      })),
    }
  }
}

/** Looks references up in the entity index, which integrity keeps; the edge only reads it. */
export const createFindKnown =
  (pool: Pool): FindKnown =>
  async (orgId, references) => {
    const wanted = references.map(({ type, id }) => ({ orgId, type, id }))
    const found = await findEntities(pool, wanted).catch((cause) => {
      throw new Unavailable('references cannot be checked at the moment', { cause })
    })
    const known = new Set(found.map(entityName))
    return ({ type, id }) => known.has(entityName({ orgId, type, id }))
  }
