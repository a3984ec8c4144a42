import { findKnownEntities } from '#ledger/find-known-entities.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Reference } from '#schemas/record.js'
import { Unavailable } from '../http/request-error.js'

/** Which of these references an organisation can make: those to records that integrity has accepted. */
export type FindKnown = (
  orgId: string,
  references: readonly Reference[],
) => Promise<(reference: Pick<Reference, 'type' | 'id'>) => boolean>

/** Reads the index as integrity keeps it, and never writes there. */
export const createFindKnown =
  (pool: Pool): FindKnown =>
  async (orgId, references) => {
    const found = await findKnownEntities(pool, orgId, references).catch((cause) => {
      throw new Unavailable('references cannot be checked at the moment', { cause })
    })
    const known = new Set(found.map(nameOf))
    return (reference) => known.has(nameOf(reference))
  }

const nameOf = ({ type, id }: Pick<Reference, 'type' | 'id'>): string => `${type}/${id}`
