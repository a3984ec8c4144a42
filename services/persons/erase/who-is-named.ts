import { asHashed, hashOfName } from '#ledger/erasures/gates.js'
import { formsOfOrg } from '#schemas/set-aside.js'
import { uuidsIn } from '#schemas/uuid.js'
import { erasuresOf, type Sought } from './sought.js'

/** Tells whether what a message has names somebody who is sought. Where it is not known whose it is, the persons of every organisation count. */
export type WhoIsNamed = {
  /** The erasures whose person one of these names is, and those by which all of the organisation goes. */
  of: (orgId: string | undefined, names: Iterable<string>) => Set<string>
  /** Whether names matter in what is of this organisation: otherwise there is no need to look for any. */
  seeksIn: (orgId: string | undefined) => boolean
  /** The erasures of whole organisations whose id stands in bytes of which nobody knows whose they are. */
  wholesIn: (bytes: Buffer) => string[]
  /**
   * The UUIDs in a message, wherever they stand: in the key, and in the value, which Avro writes a text into as it is. Those are left out
   * that nobody can have who is sought.
   */
  uuidsIn: (message: { key: string | null; value: Buffer | null }) => string[]
}

const mostRemembered = 200_000

/**
 * Tells it by hashes alone: so a proof that is made long after the names are gone asks the very same question. Records name the same few shops,
 * offers and customers again and again, so what a name was found to be is remembered.
 */
export const createWhoIsNamed = (sought: readonly Sought[]): WhoIsNamed => {
  const byOrg = new Map(
    sought.map(({ persons, ...org }) => {
      return [org.orgId, { ...org, byHash: erasuresOf({ persons }), remembered: new Map<string, readonly string[]>() }]
    }),
  )
  const orgsOf = (orgId: string | undefined) =>
    orgId === undefined ? [...byOrg.values()] : [byOrg.get(orgId)].filter((org) => org !== undefined)
  const beginnings = beginningsOf(sought)
  return {
    of: (orgId, names) => {
      const found = new Set<string>()
      for (const { salt, byHash, whole, ids, remembered } of orgsOf(orgId)) {
        if (orgId !== undefined) for (const erasure of whole) found.add(erasure)
        if (byHash.size > 0)
          for (const name of names) {
            // Of ten million ids few are theirs, and a hash takes longer than a look.
            if (ids && !ids.has(asHashed(name))) continue
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
    },
    seeksIn: (orgId) => orgsOf(orgId).some(({ byHash }) => byHash.size > 0),
    wholesIn: (bytes) =>
      sought.flatMap(({ orgId, whole }) =>
        whole.length > 0 && formsOfOrg(orgId).some((form) => bytes.includes(form)) ? whole : [],
      ),
    uuidsIn: ({ key, value }) => [
      ...uuidsIn(key ?? ''),
      ...(value === null ? [] : beginnings ? uuidsWith(value, beginnings) : uuidsIn(value.toString('latin1'))),
    ],
  }
}

/** The first eight digits, as a number, of all that is sought; undefined where some are known by their hashes alone. */
const beginningsOf = (sought: readonly Sought[]): ReadonlySet<number> | undefined => {
  const beginnings = new Set<number>()
  for (const { ids } of sought) {
    if (!ids) return undefined
    for (const id of ids) beginnings.add(beginningAt(Buffer.from(id, 'latin1'), 0))
  }
  return beginnings
}

const dash = 0x2d
const digits = 8
const behind = 28

/** The UUIDs in bytes that begin so. All messages of a topic are looked through, and a regular expression takes five times as long. */
const uuidsWith = (bytes: Buffer, beginnings: ReadonlySet<number>): string[] => {
  const found: string[] = []
  for (let at = digits; at + behind <= bytes.length; at++) {
    if (bytes[at] !== dash || bytes[at + 5] !== dash || bytes[at + 10] !== dash || bytes[at + 15] !== dash) continue
    if (beginnings.has(beginningAt(bytes, at - digits)))
      found.push(...uuidsIn(bytes.toString('latin1', at - digits, at + behind)))
  }
  return found
}

/** What is no hexadecimal digit counts as one of them: this only says what is worth a closer look. */
const beginningAt = (bytes: Buffer, from: number): number => {
  let beginning = 0
  for (let at = from; at < from + digits; at++) beginning = (beginning << 4) | digitOf(bytes[at] ?? 0)
  return beginning
}
const digitOf = (byte: number): number => (byte < 0x3a ? byte & 15 : (byte & 7) + 9)
