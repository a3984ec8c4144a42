import type { FileRow, OpenFile } from './read-file.js'

/** The rows of a file that go into one request. `bytes` is how far the file was read at its end. */
export type FilePart = { number: number; rows: FileRow[]; bytes: number }

/** Cuts a file into parts: those of the same file are the same each time, so that an upload can go on where it stopped. */
export async function* partsOf(
  opened: Pick<OpenFile, 'rows'>,
  mostRows: number,
): AsyncGenerator<FilePart, void, undefined> {
  let part: FilePart = { number: 0, rows: [], bytes: 0 }
  let read = 0
  let characters = 0
  let values = 0
  for await (const row of opened.rows((bytes) => {
    read = bytes
  })) {
    const text = JSON.stringify(row.record) ?? ''
    const fields = typeof row.record === 'object' && row.record !== null ? Object.keys(row.record).length + 1 : 1
    const isFull = part.rows.length >= mostRows || characters + text.length > mostCharacters
    if (part.rows.length > 0 && (isFull || values + fields > mostValues)) {
      yield part
      part = { number: part.number + 1, rows: [], bytes: read }
      characters = 0
      values = 0
    }
    part.rows.push(row)
    part.bytes = read
    characters += text.length
    values += fields
  }
  if (part.rows.length > 0) yield part
}

// A request may have 16 MiB, and a character up to 4 bytes.
const mostCharacters = 4_000_000
// The service reads at most 100 000 JSON values of a request.
const mostValues = 90_000

/** Numbers of parts, as the first and the last of those that follow each other: of a large file there are thousands. */
export type PartRanges = [first: number, last: number][]

export const hasPart = (ranges: Readonly<PartRanges>, number: number): boolean =>
  ranges.some(([first, last]) => first <= number && number <= last)

export const withPart = (ranges: Readonly<PartRanges>, number: number): PartRanges => {
  const merged: PartRanges = []
  for (const [first, last] of [...ranges, [number, number] as const].sort(([a], [b]) => a - b)) {
    const before = merged.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return merged
}
