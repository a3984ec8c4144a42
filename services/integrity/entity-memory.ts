import type { Entity } from '#ledger/entities.js'

/** How an entity came to be known: it was only looked up, or this process has added it to the index. */
export type HowKnown = 'found' | 'added'

/**
 * Keeps the `most` / 2 entities that were used last, and up to `most` in all; now and then one is forgotten too early. Two
 * tables take turns: when the one that is written to is full, the other one, with what was not used meanwhile, is emptied.
 * A cache of texts took a quarter of integrity's own time, and three times the memory.
 */
export const createEntityMemory = (most: number) => {
  const half = Math.ceil(most / 2)
  let recent = createTable(half)
  let earlier = createTable(half)

  const set = (entity: Entity, seen: HowKnown): void => {
    if (recent.size() === half) {
      const emptied = earlier
      emptied.clear()
      earlier = recent
      recent = emptied
    }
    recent.set(entity, seen)
  }
  return {
    get: (entity: Entity): HowKnown | undefined => {
      const seen = recent.get(entity)
      if (seen) return seen
      const before = earlier.get(entity)
      if (before) set(entity, before)
      return before
    },
    set,
    clear: (): void => {
      recent.clear()
      earlier.clear()
    },
  }
}

// A slot holds a number for organisation and type, with the way it was seen, and the four words of the UUID.
const wordsInSlot = 5
// Slots that are looked at for one entity. Ids chosen to belong into one slot cannot make this slow.
const mostLooks = 16

/** A hash table in one piece of memory: an entity is found by one look at it, where texts lie scattered. */
const createTable = (most: number) => {
  const slots = 2 ** Math.ceil(Math.log2(2 * most))
  const table = new Int32Array(slots * wordsInSlot)
  // By type and then by organisation: a Map of its own for each organisation takes 227 bytes, an entry in one takes 38.
  const spaces = new Map<string, Map<string, number>>()
  let spaceCount = 0
  let size = 0
  const uuid = new Int32Array(4)

  const spaceOf = ({ orgId, type }: Entity): number | undefined => spaces.get(type)?.get(orgId)
  const addSpace = ({ orgId, type }: Entity): number => {
    const byOrg = spaces.get(type) ?? new Map<string, number>()
    spaces.set(type, byOrg)
    byOrg.set(orgId, ++spaceCount)
    return spaceCount
  }

  /** Where the entity stands that `uuid` holds, or where it would be put; undefined where there is no room for it. */
  const findSlot = (space: number): number | undefined => {
    // One by one: `const [a, b, c, d] = uuid` would ask the typed array for its iterator, which is slow.
    const a = uuid[0] as number
    const b = uuid[1] as number
    const c = uuid[2] as number
    const d = uuid[3] as number
    let hash = Math.imul(space ^ a, 0x9e3779b1) ^ b
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) ^ c
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35) ^ d
    hash = Math.imul(hash ^ (hash >>> 16), 0x27d4eb2f)
    for (let look = 0; look < mostLooks; look++) {
      const at = (((hash >>> 7) + look) & (slots - 1)) * wordsInSlot
      const tag = table[at] ?? 0
      if (tag === 0) return at
      const isSame =
        tag >> 1 === space && table[at + 1] === a && table[at + 2] === b && table[at + 3] === c && table[at + 4] === d
      if (isSame) return at
    }
    return undefined
  }

  return {
    size: (): number => size,
    get: (entity: Entity): HowKnown | undefined => {
      const space = spaceOf(entity)
      if (space === undefined || !readUuid(entity.id, uuid)) return undefined
      const tag = table[findSlot(space) ?? -1] ?? 0
      return tag === 0 ? undefined : tag % 2 === 1 ? 'added' : 'found'
    },
    set: (entity: Entity, seen: HowKnown): void => {
      if (!readUuid(entity.id, uuid)) return
      const space = spaceOf(entity) ?? addSpace(entity)
      const at = findSlot(space)
      if (at === undefined) return
      if (table[at] === 0) size++
      table[at] = space * 2 + (seen === 'added' ? 1 : 0)
      table.set(uuid, at + 1)
    },
    clear: (): void => {
      table.fill(0)
      spaces.clear()
      spaceCount = 0
      size = 0
    },
  }
}

/** Reads the four words of a UUID in lower case, the one way in which ids are written; false for any other text. */
const readUuid = (text: string, words: Int32Array): boolean => {
  if (text.length !== 36) return false
  let word = 0
  let digits = 0
  for (let at = 0; at < 36; at++) {
    const code = text.charCodeAt(at)
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (code !== 45) return false
      continue
    }
    const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : 16
    if (digit === 16) return false
    word = (word << 4) | digit
    if (++digits % 8 === 0) words[digits / 8 - 1] = word
  }
  return true
}
