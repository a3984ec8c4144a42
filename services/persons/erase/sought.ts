import type { Counted, Erasure } from '#ledger/erasures/erasures.js'
import { asHashed, hashOfName, saltOf } from '#ledger/erasures/gates.js'
import { groupBy } from '#platform/group-by.js'
import type { Pool } from '#platform/postgres/postgres.js'

/**
 * Persons of one organisation who are to be forgotten, or were: for each erasure the hashes of the ids. `ids`: the ids themselves, as
 * they are hashed, as long as all of them are known; what is none of them need not be hashed. `whole`: the erasures by which all that the organisation has goes.
 */
export type Sought = {
  orgId: string
  salt: Buffer
  persons: ReadonlyMap<string, readonly string[]>
  ids?: ReadonlySet<string> | undefined
  whole: readonly string[]
}

/** The names of a person, once they are found; of one who is forgotten already they are known no longer. */
export const namesOf = ({ known }: Pick<Erasure, 'known'>): string[] => [
  ...(known?.customerIds ?? []),
  ...(known?.userIds ?? []),
]

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
    const salt = await saltOf(pool, orgId)
    all.push({ orgId, salt, persons, whole, ids: idsOf(own, salt) })
  }
  return all
}

/** The ids that are sought, unless some are known by their hashes alone: as when the erasure is done once more. */
const idsOf = (erasures: readonly Erasure[], salt: Buffer): ReadonlySet<string> | undefined => {
  const ids = new Set<string>()
  for (const erasure of erasures) {
    if (erasure.mode === 'organisation') continue
    const own = namesOf(erasure).map(asHashed)
    const hashes = new Set(own.map((id) => hashOfName(salt, id).toString('hex')))
    if (!erasure.names.every((hash) => hashes.has(hash))) return undefined
    for (const id of own) ids.add(id)
  }
  return ids
}
