import { createHash } from 'node:crypto'

export type Random = ReturnType<typeof createRandom>

/** Choices that are the same each time for the same seed. A fork has choices of its own, whatever else is chosen. */
export const createRandom = (seed: string) => {
  let state = createHash('sha256').update(seed).digest().readUInt32LE()
  // mulberry32: small, and even enough for choices.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  /** From `least` to `most`, both among them. */
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  const pick = <T>(list: readonly T[]): T => list[int(0, list.length - 1)] as T
  return {
    int,
    pick,
    chance: (share: number): boolean => next() < share,
    some: <T>(list: readonly T[], count: number): T[] => Array.from({ length: count }, () => pick(list)),
    shuffled: <T>(list: readonly T[]): T[] =>
      list
        .map((value) => ({ value, place: next() }))
        .sort((a, b) => a.place - b.place)
        .map(({ value }) => value),
    uuid: (): string => {
      const hex = Array.from({ length: 32 }, () => int(0, 15).toString(16)).join('')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
    },
    fork: (name: string) => createRandom(`${seed}/${name}`),
  }
}
