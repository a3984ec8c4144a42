import fc from 'fast-check'
import type { RecordType } from '#schemas/record.js'
import { type LinedEntries, type LinesRead, type OpenLines, readLines } from '../../services/edge/body/lines.js'

/** A CSV row of these values; a cell stands in quotes where it must, or where `isQuoted` says so. */
export const csvRow = (cells: readonly unknown[], isQuoted: (n: number) => boolean = () => false): string =>
  cells
    .map((cell, n) => {
      const text = cell === null || cell === undefined ? '' : Object.is(cell, -0) ? '-0' : String(cell)
      return isQuoted(n) || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
    })
    .join(',')

/** Records as a CSV with every field of their type. */
export const csvOf = (type: Pick<RecordType, 'fields'>, records: readonly Record<string, unknown>[]): string => {
  const names = Object.keys(type.fields)
  return [names, ...records.map((record) => names.map((name) => record[name]))]
    .map((row) => `${csvRow(row)}\n`)
    .join('')
}

export const ndjsonOf = (records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** Reads a body as it would come in pieces of these sizes, the last of them repeated. */
export const readInPieces = async (
  open: OpenLines,
  body: Buffer,
  sizes: readonly number[] = [body.length],
): Promise<LinedEntries | { error: string }> => {
  const into: LinesRead = { entries: [], lines: [], passedOver: 0 }
  let rest: Buffer = Buffer.alloc(0)
  let opened: Exclude<ReturnType<OpenLines>, { error: unknown }>
  for (let at = 0, n = 0; ; n++) {
    const size = Math.max(1, sizes[Math.min(n, sizes.length - 1)] ?? 1)
    rest = Buffer.concat([rest, body.subarray(at, at + size)])
    at += size
    const isLast = at >= body.length
    let from = 0
    if (!opened) {
      const given = open(rest, isLast)
      if (given && 'error' in given) return { error: given.error.message }
      opened = given
      from = given?.at ?? 0
    }
    if (opened) {
      const options = { isLast, isEnough: () => false, pause: () => undefined }
      rest = rest.subarray(await readLines(opened.readNext, rest, from, options, into))
    }
    if (isLast) return { entries: into.entries, lines: into.lines }
  }
}

export const anyPieces = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 400 })), {
  minLength: 1,
  maxLength: 8,
})
