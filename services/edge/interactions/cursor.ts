import { firstYear, lastYear } from '#schemas/read-instant.js'
import { isUuid } from '#schemas/uuid.js'

/** The last interaction of a page. */
export type Cursor = { timestamp: number; id: string }

export const writeCursor = ({ timestamp, id }: Cursor): string =>
  Buffer.from(JSON.stringify([timestamp, id])).toString('base64url')

/** undefined where the text is no cursor of ours. A forged one can only choose a place in the caller's own interactions. */
export const readCursor = (text: string): Cursor | undefined => {
  const parsed = /^[\w-]{1,200}$/.test(text) ? parse(Buffer.from(text, 'base64url').toString()) : undefined
  if (!Array.isArray(parsed) || parsed.length !== 2) return undefined
  const [timestamp, id] = parsed
  if (!isInstant(timestamp) || typeof id !== 'string' || !isUuid(id)) return undefined
  // One text for one place: anything else was not written by us.
  return writeCursor({ timestamp, id }) === text ? { timestamp, id } : undefined
}

const isInstant = (ms: unknown): boolean =>
  Number.isSafeInteger(ms) && Number(ms) >= Date.UTC(firstYear) && Number(ms) < Date.UTC(lastYear + 1)

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
