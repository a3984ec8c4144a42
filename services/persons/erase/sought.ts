import type { Counted, Erasure } from '#ledger/erasures/erasures.js'
import { saltOf } from '#ledger/erasures/gates.js'
import { groupBy } from '#platform/group-by.js'
import type { Pool } from '#platform/postgres/postgres.js'

/**
 * Persons of one organisation who are to be forgotten, or were: for each erasure the hashes of the ids. `whole`: the erasures by which all that
 * the organisation has goes.
 */
export type Sought = {
  orgId: string
  salt: Buffer
  persons: ReadonlyMap<string, readonly string[]>
  whole: readonly string[]
}

/** The erasures of each hash. */
export const erasuresOf = ({ persons }: Pick<Sought, 'persons'>): Map<string, string[]> => {
  const erasures = new Map<string, string[]>()
  for (const [erasureId, hashes] of persons)
    for (const hash of hashes) erasures.set(hash, [...(erasures.get(hash) ?? []), erasureId])
  return erasures
}

/** What was counted at a place, by hash, as what each erasure has there. */
export const addCounts = (
  sought: Pick<Sought, 'persons'>,
  where: string,
  rows: readonly { hash: string; count: number }[],
  counts: Map<string, Counted[]>,
): void => {
  const erasures = erasuresOf(sought)
  const sums = new Map<string, number>()
  for (const { hash, count } of rows)
    for (const erasureId of erasures.get(hash.toLowerCase()) ?? [])
      sums.set(erasureId, (sums.get(erasureId) ?? 0) + count)
  for (const [erasureId, count] of sums) counts.set(erasureId, [...(counts.get(erasureId) ?? []), { where, count }])
}

/** Whom these erasures seek, by organisation. */
export const soughtBy = async (pool: Pool, erasures: readonly Erasure[]): Promise<Sought[]> => {
  const all: Sought[] = []
  for (const [orgId, own] of groupBy(erasures, (erasure) => erasure.orgId)) {
    const isWhole = ({ mode }: Erasure): boolean => mode === 'organisation'
    const persons = new Map(own.filter((each) => !isWhole(each)).map(({ erasureId, names }) => [erasureId, names]))
    const whole = own.filter(isWhole).map(({ erasureId }) => erasureId)
    all.push({ orgId, salt: await saltOf(pool, orgId), persons, whole })
  }
  return all
}
