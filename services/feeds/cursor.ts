import { createHash } from 'node:crypto'

// Where a reader of a feed is: what it is given as an opaque text, and gives back with its next question. Nothing of it is kept here, so it
// outlives restarts, rebuilds and other lanes.

/** In the submitted log: of each partition of one generation the version that comes next; of one that is not named, the first. */
export type LogPosition = { generation: number; next: Readonly<Record<number, number>> }

/** In the tables, of records that were accepted at `since` or later: behind the record with this key; and where to go on in the log afterwards. */
export type TablePosition = { since: number; after: readonly (string | number)[]; log: LogPosition }

export type FeedPosition = LogPosition | TablePosition
export const isInTables = (position: FeedPosition): position is TablePosition => 'log' in position

/**
 * Of each type that the feed is of, where its reader is; and, in milliseconds, a moment before which nothing was accepted that the reader
 * has not had: where the log has lost what comes next, that is where to begin again.
 */
export type FeedCursor = { at: number; positions: ReadonlyMap<string, FeedPosition> }

type Written = [form: 1, org: string, at: number, positions: Record<string, WrittenPosition>]
type WrittenPosition = [
  generation: number,
  next: LogPosition['next'],
  ...fromTables: (number | TablePosition['after'])[],
]

export const writeCursor = (orgId: string, { at, positions: all }: FeedCursor): string => {
  const positions = Object.fromEntries([...all].map(([type, position]) => [type, toWritten(position)]))
  const written: Written = [1, tagOf(orgId), at, positions]
  return Buffer.from(JSON.stringify(written)).toString('base64url')
}

const toWritten = (position: FeedPosition): WrittenPosition =>
  isInTables(position)
    ? [position.log.generation, position.log.next, position.since, position.after]
    : [position.generation, position.next]

/** Not the name itself: a cursor may be shown where the name is nobody's business. */
const tagOf = (orgId: string): string => createHash('sha256').update(orgId).digest('base64url').slice(0, 8)

/** Undefined where the text is no cursor; `foreign` where it belongs to another organisation. */
export const readCursor = (orgId: string, text: string): FeedCursor | 'foreign' | undefined => {
  const written = parse(text)
  if (!Array.isArray(written) || written[0] !== 1) return undefined
  const [, org, at, given] = written
  if (typeof org !== 'string' || !isCount(at) || !isObject(given)) return undefined
  if (org !== tagOf(orgId)) return 'foreign'
  const positions = new Map<string, FeedPosition>()
  for (const [type, each] of Object.entries(given)) {
    const position = toPosition(each)
    if (!position) return undefined
    positions.set(type, position)
  }
  return { at, positions }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString())
  } catch {
    return undefined
  }
}

const toPosition = (written: unknown): FeedPosition | undefined => {
  if (!Array.isArray(written)) return undefined
  const [generation, next, since, after] = written
  if (!isCount(generation) || !isObject(next) || !Object.values(next).every(isCount)) return undefined
  const log = { generation, next: next as LogPosition['next'] }
  if (since === undefined) return log
  const isKey = Array.isArray(after) && after.every((each) => typeof each === 'string' || Number.isSafeInteger(each))
  return isCount(since) && isKey ? { since, after, log } : undefined
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
