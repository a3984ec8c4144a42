import { sha256 } from './sha256.js'

export type Chance = ReturnType<typeof createChance>

/** Always the same choices for the same seed and the same place: any row can be made without those before it. */
export const createChance = (...place: (string | number)[]) => {
  let state = reversed(Number(sha256(JSON.stringify(place))[0]))
  // mulberry32: 32 bits of state are plenty for the dozen choices of a row.
  /** From 0 up to, and not including, 1. */
  const share = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  const below = (bound: number): number => Math.floor(share() * bound)
  const one = <T>(of: readonly T[]): T => of[below(of.length)] as T
  return { share, below, one, isLikely: (probability: number): boolean => share() < probability }
}

/** The id of the record at this place: a UUID of version 4 in form. */
export const idOf = (...place: (string | number)[]): string => {
  let hex = ''
  for (const word of sha256(JSON.stringify(place)).subarray(0, 4)) hex += hexOf(word >>> 16) + hexOf(word & 0xffff)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The four bytes of a word from the last to the first. */
const reversed = (word: number): number =>
  (word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)

const hexOf = (half: number): string => half.toString(16).padStart(4, '0')
