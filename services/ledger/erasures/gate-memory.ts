import type { Log } from '#platform/health/log.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import { createKnownGates, type Gate } from './gates.js'

/** Gates as they were a moment ago: for who only spares others work, and must not ask Postgres for each request. */
export type GateMemory = {
  /** To be called again and again; never rejects. */
  look: () => Promise<void>
  /** Whether an organisation has had somebody erased. */
  has: (orgId: string) => boolean
  of: (orgId: string) => Promise<Gate | undefined>
}

export const createGateMemory = (pool: Pool, log: Log): GateMemory => {
  let changes = new Map<string, number>()
  const known = createKnownGates()
  return {
    look: async () => {
      try {
        const rows = await rowsOf<{ org_id: string; change: number }>(pool, 'select org_id, change from erasure.gates')
        changes = new Map(rows.map(({ org_id, change }) => [org_id, change]))
      } catch (error) {
        log.warn({ err: error }, 'who was erased lately is not known here now; integrity knows')
      }
    },
    has: (orgId) => changes.has(orgId),
    of: async (orgId) => {
      const change = changes.get(orgId)
      if (change === undefined) return undefined
      // Integrity reads it itself, and nothing is decided while Postgres is away.
      return known.of(pool, orgId, change).catch(() => known.last(orgId))
    },
  }
}
