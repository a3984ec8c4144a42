import type { Erasure } from '#ledger/erasures/erasures.js'
import { saltOf } from '#ledger/erasures/gates.js'
import { groupBy } from '#platform/group-by.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Sought } from './who-is-named.js'

/** Whom these erasures seek, by organisation. */
export const soughtBy = async (pool: Pool, erasures: readonly Erasure[]): Promise<Sought[]> => {
  const all: Sought[] = []
  for (const [orgId, own] of groupBy(erasures, (erasure) => erasure.orgId)) {
    const persons = new Map(own.map(({ erasureId, names }) => [erasureId, names]))
    all.push({ orgId, salt: await saltOf(pool, orgId), persons })
  }
  return all
}
