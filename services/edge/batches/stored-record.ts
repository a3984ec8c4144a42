/** A refused record as the rejections keep it. */
export type StoredRecord = { record: string; truncated: boolean }

const mostBytes = 64 * 1024
const mostLevels = 100
const tooDeep: StoredRecord = { record: `(nested more than ${mostLevels} levels deep)`, truncated: true }

export const toStoredRecord = (given: unknown): StoredRecord => {
  // JSON.stringify walks by recursion: a few thousand levels end it with a RangeError.
  if (isDeeperThan(mostLevels, given)) return tooDeep
  const text = JSON.stringify(given)
  if (text.length * 3 <= mostBytes) return { record: text, truncated: false }
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes))
  return { record: text.slice(0, read), truncated: read < text.length }
}

const isDeeperThan = (most: number, given: unknown): boolean => {
  let level: unknown[] = [given]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []))
  }
  return false
}
