import { hashOfName } from '#ledger/erasures/gates.js'
import { uuidsIn } from '#schemas/uuid.js'
import { erasuresOf, type Sought } from './sought.js'

/**
 * The erasures whose person one of these names is, and those by which all of the organisation goes. Where it is not known whose message it is,
 * the persons of every organisation are looked for.
 */
export type WhoIsNamed = (orgId: string | undefined, names: Iterable<string>) => Set<string>

const mostRemembered = 200_000

/**
 * The one predicate of all that is counted, removed and proved. It goes by hashes, since the proof is made when nobody knows the names any
 * more.
 */
export const createWhoIsNamed = (sought: readonly Sought[]): WhoIsNamed => {
  const byOrg = new Map(
    sought.map(({ orgId, salt, persons, whole }) => {
      return [orgId, { salt, byHash: erasuresOf({ persons }), whole, remembered: new Map<string, readonly string[]>() }]
    }),
  )
  return (orgId, names) => {
    const orgs = orgId === undefined ? [...byOrg.values()] : [byOrg.get(orgId)].filter((org) => org !== undefined)
    const found = new Set<string>()
    for (const { salt, byHash, whole, remembered } of orgs) {
      if (orgId !== undefined) for (const erasure of whole) found.add(erasure)
      if (byHash.size > 0)
        for (const name of names) {
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
}

/** The UUIDs in a message, wherever they stand: in the key, and in the value, which Avro writes a text into as it is. */
export const uuidsInMessage = ({ key, value }: { key: string | null; value: Buffer | null }): string[] =>
  uuidsIn(`${key ?? ''} ${value?.toString('latin1') ?? ''}`)
