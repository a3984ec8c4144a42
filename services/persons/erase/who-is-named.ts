import { hashOfName } from '#ledger/erasures/gates.js'
import { uuidsIn } from '#schemas/uuid.js'
import { erasuresOf, type Sought } from './sought.js'

/**
 * The erasures whose person one of these names is, and those by which all of the organisation goes. Where it is not known whose message it is,
 * the persons of every organisation are looked for.
 */
export type WhoIsNamed = {
  (orgId: string | undefined, names: Iterable<string>): Set<string>
  /** Whether names matter where a message is of this organisation: otherwise there is no need to look for any. */
  seeksIn: (orgId: string | undefined) => boolean
}

const mostRemembered = 200_000

/**
 * The one predicate of all that is counted, removed and proved. It goes by hashes, since the proof is made when nobody knows the names any
 * more.
 */
export const createWhoIsNamed = (sought: readonly Sought[]): WhoIsNamed => {
  const byOrg = new Map(
    sought.map(({ orgId, salt, persons, whole, ids }) => {
      return [
        orgId,
        { salt, byHash: erasuresOf({ persons }), whole, ids, remembered: new Map<string, readonly string[]>() },
      ]
    }),
  )
  const orgsOf = (orgId: string | undefined) =>
    orgId === undefined ? [...byOrg.values()] : [byOrg.get(orgId)].filter((org) => org !== undefined)
  const seeksIn = (orgId: string | undefined): boolean => orgsOf(orgId).some(({ byHash }) => byHash.size > 0)
  const whoIsNamed = (orgId: string | undefined, names: Iterable<string>): Set<string> => {
    const found = new Set<string>()
    for (const { salt, byHash, whole, ids, remembered } of orgsOf(orgId)) {
      if (orgId !== undefined) for (const erasure of whole) found.add(erasure)
      if (byHash.size > 0)
        for (const name of names) {
          // Of ten million ids few are theirs, and a hash takes longer than a look.
          if (ids && !ids.has(name.toLowerCase())) continue
          let erasures = remembered.get(name)
          if (!erasures) {
            erasures = byHash.get(hashOfName(salt, name).toString('hex')) ?? []
            if (remembered.size === mostRemembered) remembered.clear()
            remembered.set(name, erasures)
          }
          for (const erasure of erasures) found.add(erasure)
        }
    }
    return found
  }
  return Object.assign(whoIsNamed, { seeksIn })
}

/** The UUIDs in a message, wherever they stand: in the key, and in the value, which Avro writes a text into as it is. */
export const uuidsInMessage = ({ key, value }: { key: string | null; value: Buffer | null }): string[] =>
  uuidsIn(`${key ?? ''} ${value?.toString('latin1') ?? ''}`)
