import { isUtf8 } from 'node:buffer'
import type { RequestError } from '#http/request-error.js'
import type { Pause } from '#platform/process/pauses.js'
import type { Entry } from '../batches/entries.js'

/** The formats whose records stand in lines, by the Content-Type that says so. */
export const formatOf = {
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'text/csv': 'csv',
} as const

export type LinedFormat = (typeof formatOf)[keyof typeof formatOf]

/** Records in the order of the body, and the line on which each begins, from 1. */
export type LinedEntries = { entries: Entry[]; lines: number[] }

/** `passedOver`: how many bytes were of lines that are longer than any record, and were not kept. */
export type LinesRead = LinedEntries & { passedOver: number }

/** Begins a body with its first bytes; undefined where more of them are needed. `isLast`: no more will come. */
export type OpenLines = (bytes: Buffer, isLast: boolean) => OpenedLines | { error: RequestError } | undefined

export type OpenedLines = {
  /** Where the first line after the header begins. */
  at: number
  /** What the lines mean besides their own text: their format and, in CSV, the header. */
  meaning: string
  readNext: ReadNext
  /** Whether the last bytes were within a line that is passed over. */
  isWithinLine: () => boolean
}

/** Adds the record that begins here, if one does, to `into`. Returns the place after the line, or -1: more bytes are needed. */
export type ReadNext = (bytes: Buffer, at: number, isLast: boolean, into: LinesRead) => number

// Bytes, and records that are wrong, that are read in a millisecond.
const pauseEvery = { bytes: 64 * 1024, records: 50 }

/** Reads lines until `isEnough`, or until the rest is no whole line; returns the place that it got to. */
export const readLines = async (
  readNext: ReadNext,
  bytes: Buffer,
  from: number,
  options: { isLast: boolean; isEnough: (at: number) => boolean; pause: Pause },
  into: LinesRead,
): Promise<number> => {
  let at = from
  let paused = { at, records: into.entries.length }
  while (at < bytes.length && !options.isEnough(at)) {
    const next = readNext(bytes, at, options.isLast, into)
    if (next < 0) break
    at = next
    const records = into.entries.length
    if (at - paused.at > pauseEvery.bytes || records - paused.records > pauseEvery.records) {
      paused = { at, records }
      await options.pause()
    }
  }
  return at
}

/** The place after a byte order mark, which says no more than that this is UTF-8. */
export const afterMark = (bytes: Buffer): number =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0

/** Tells whether all bytes of a piece are valid UTF-8 without a NUL, and looks at each piece once only. */
export const createIsClean = (): ((bytes: Buffer) => boolean) => {
  let seen: Buffer | undefined
  let isClean = false
  return (bytes) => {
    if (bytes !== seen) isClean = isUtf8(bytes) && !bytes.includes(0)
    seen = bytes
    return isClean
  }
}

/** What may have happened to a body whose records stand on one line. */
export const runTogether =
  'its records stand on one line: curl sends a file as it is with --data-binary @file, and -d takes its line breaks out'

export const notUtf8 = 'the line is not valid UTF-8; save the file as UTF-8'
