// Where a page of a list ended, as the next one is asked for.

export const writeCursor = (parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/** The parts of a cursor; none where the text was not written by us. A forged one chooses only among the caller's records. */
export const readCursor = (text: string, count: number): unknown[] => {
  const parts = /^[\w-]{1,200}$/.test(text) ? parse(Buffer.from(text, 'base64url').toString()) : undefined
  return Array.isArray(parts) && parts.length === count && writeCursor(parts) === text ? parts : []
}

/** Of one more than a page shows, those that it shows; and the cursor of the next page, null where there is none. */
export const pageOf = <One>(found: readonly One[], limit: number, cursorAfter: (last: One) => string) => {
  const shown = found.slice(0, limit)
  const last = found.length > limit ? shown.at(-1) : undefined
  return { shown, next_cursor: last ? cursorAfter(last) : null }
}

/** A moment in a cursor. */
export const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Math.abs(Number(value)) <= 4e12

/** A place among records in a cursor. */
export const isPlace = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff_ffff

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
