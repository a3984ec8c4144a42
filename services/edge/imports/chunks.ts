import { createHash } from 'node:crypto'
import type { RequestError } from '#http/request-error.js'
import { createPauses } from '#platform/process/pauses.js'
import { type LinedEntries, type LinesRead, type OpenedLines, type OpenLines, readLines } from '../body/lines.js'
import type { Piece } from './pieces.js'

/** A part of an import that is submitted as one request. */
export type ImportChunk = LinedEntries & {
  /** From 1. */
  number: number
  /** The place of its first record in the import. */
  first: number
  /** Of its text and of what that text means. */
  sha256: Buffer
  share: Share
}

/** What a chunk may take of the memory: `chunkBytes` of it while it is read, and then what it took. */
export type Share = {
  growTo: (bytes: number) => Promise<void>
  shrinkTo: (bytes: number) => void
  release: () => void
}

/** A body whose first bytes were read. */
export type Begun = { opened: OpenedLines; piece: Piece }

/** Reads as much of a body as it takes to know what its lines mean. */
export const begin = async (
  open: OpenLines,
  nextPiece: () => Promise<Piece>,
): Promise<Begun | { error: RequestError }> => {
  let piece = await nextPiece()
  for (;;) {
    const opened = open(piece.bytes, piece.isLast)
    if (opened) return 'error' in opened ? opened : { opened, piece }
    piece = joined(piece.bytes, await nextPiece())
  }
}

// About a quarter of what a request may be; with the records in it, it takes three times as much memory.
export const chunkBytes = 4 * 1024 * 1024

/**
 * Cuts a body into chunks of at most `limit` records. Where they are cut depends on nothing but the body: when it is sent
 * again, its chunks are the same, and those that were decided are not decided again. So a chunk whose end has not come is
 * never returned. Undefined where the body has ended.
 */
export const createChunks = (
  { opened, piece }: Begun,
  deps: { limit: number; nextPiece: () => Promise<Piece>; takeShare: () => Promise<Share> },
): (() => Promise<ImportChunk | undefined>) => {
  const pause = createPauses()
  let { bytes: rest, isLast } = piece
  let { at } = opened
  let number = 0
  let first = 0

  const readChunk = async (share: Share): Promise<Omit<ImportChunk, 'number' | 'first'> | undefined> => {
    const into: LinesRead = { entries: [], lines: [], passedOver: 0 }
    let hash = createHash('sha256').update(opened.meaning)
    let bytes = 0
    for (;;) {
      const start = at
      // Lines that are passed over do not count: how much of one has come by now depends on the network.
      const isEnough = (place: number) =>
        !opened.isWithinLine() &&
        (into.entries.length >= deps.limit || bytes + place - start - into.passedOver >= chunkBytes)
      at = await readLines(opened.readNext, rest, start, { isLast, isEnough, pause }, into)
      hash.update(rest.subarray(start, at))
      const isFull = isEnough(at)
      bytes += at - start
      const held = bytes - into.passedOver + rest.length - at
      await share.growTo(held)
      const isOver = isLast && at >= rest.length
      const isEmpty = into.entries.length === 0
      if (!isEmpty && (isFull || isOver)) {
        share.shrinkTo(held)
        return { entries: into.entries, lines: into.lines, sha256: hash.digest(), share }
      }
      if (isOver) return undefined
      if (isFull) {
        // Nothing but empty lines.
        hash = createHash('sha256').update(opened.meaning)
        bytes = 0
        into.passedOver = 0
      }
      if (!isFull) {
        const next = joined(rest.subarray(at), await deps.nextPiece())
        rest = next.bytes
        isLast = next.isLast
        at = 0
      }
    }
  }

  return async () => {
    const share = await deps.takeShare()
    let chunk: Awaited<ReturnType<typeof readChunk>>
    try {
      chunk = await readChunk(share)
    } finally {
      if (!chunk) share.release()
    }
    if (!chunk) return undefined
    const placed = { ...chunk, number: ++number, first }
    first += chunk.entries.length
    return placed
  }
}

const joined = (rest: Buffer, piece: Piece): Piece =>
  rest.length === 0 ? piece : { ...piece, bytes: Buffer.concat([rest, piece.bytes]) }
