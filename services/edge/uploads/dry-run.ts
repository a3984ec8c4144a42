import { entityName, findEntities } from '#ledger/entities.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { createDecide } from '#schemas/decide.js'
import type { Values } from '#schemas/field.js'
import { createReferencesOf, type RecordType, type Reference } from '#schemas/record.js'
import { Unavailable } from '../http/request-error.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import { answeredBefore, type Upload, type UploadResult } from './upload.js'

/** Which of these references an organisation can make: those to records that integrity has accepted. */
export type FindKnown = (
  orgId: string,
  references: readonly Reference[],
) => Promise<(reference: Pick<Reference, 'type' | 'id'>) => boolean>

/** What an upload of this type would be answered now; nothing is published, kept or used up by it. */
export const createDryRun = (
  type: RecordType,
  deps: { findKnown: FindKnown; store: Pick<VerdictStore, 'ofRequest'>; now: () => number },
) => {
  const referencesOf = createReferencesOf(type)
  const decide = createDecide(type)

  return async (upload: Upload): Promise<UploadResult> => {
    const before = await answeredBefore(upload, deps)
    if ('error' in before || 'results' in before) return before
    const references = upload.batches.flatMap(({ records }) =>
      records.flatMap((record) => referencesOf(record as Values)),
    )
    // Also where there are none: without Postgres the upload would not be decided either.
    const isKnown = await deps.findKnown(upload.orgId, references)
    // Only interactions are keyed one by one, and they have no dry run.
    const world = { isKnown, takenBefore: () => undefined }
    return {
      results: upload.batches.map((batch) => ({
        batch: batch.batch,
        batchId: batch.batch_id,
        outcome: { verdict: decide(batch, world, deps.now()) },
      })),
    }
  }
}

/** Reads the index as integrity keeps it, and never writes there. */
export const createFindKnown =
  (pool: Pool): FindKnown =>
  async (orgId, references) => {
    const found = await findEntities(
      pool,
      references.map(({ type, id }) => ({ orgId, type, id })),
    ).catch((cause) => {
      throw new Unavailable('references cannot be checked at the moment', { cause })
    })
    const known = new Set(found.map(entityName))
    return ({ type, id }) => known.has(entityName({ orgId, type, id }))
  }
