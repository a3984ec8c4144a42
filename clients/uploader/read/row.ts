import { isExact } from '../../typescript/src/files/exact.js'

/** One record of a file, as it stands there. */
export type Row = {
  /** Where it begins: the line, counted from 1; in Parquet, which has no lines, the row. */
  line: number
  /** Which record of the file it is, counted from 1, where the line says little: in a JSON array, and in Parquet. */
  record?: number
  /** Where the next one begins: bytes from the start of the file's text in UTF-8, uncompressed; in Parquet rows. */
  end: number
  /** The line at `end`. */
  nextLine: number
  /** Its cells in the order of the columns (CSV), or whatever stands there in JSON. Of an unreadable row, what could be read. */
  given: string[] | unknown
  /** Why it cannot be read as a record. Such a row is refused without being sent. */
  unreadable?: string
}

/** Where a record stands, for people. */
export const placeOf = ({ line, record }: Pick<Row, 'line' | 'record'>): string => {
  if (record === undefined) return `line ${line}`
  return record === line ? `record ${record}` : `record ${record}, line ${line}`
}

/** A place between two rows from which a file can be read on; `records` are those before it. */
export type FilePlace = { offset: number; line: number; records?: number }

/** The rows of a file in blocks, because a step of the event loop for each row would take longer than reading it. */
export type FileRows = {
  /** The names of the columns, where the file has such. */
  columns?: string[]
  blocks: AsyncIterable<Row[]>
}

/** What people can mend: one line that says what is wrong and what to do next. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A word of a command that can be pasted into a shell. */
export const quoted = (word: string): string =>
  /^[\w./-][\w./:=,@%+-]*$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** A record may not be longer than a request. */
export const longestRecord = 2 * 1024 * 1024

/** How many line feeds there are in these bytes. */
export const countLines = (bytes: Buffer): number => {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++
  return count
}

/** Reads a record from JSON text; a string says why it cannot be read. */
export const readJson = (text: string): { value: unknown } | string => {
  try {
    const value = JSON.parse(text) as unknown
    const inexact = longDigits.test(text) ? inexactNumberIn(text) : undefined
    if (hasNameTwice(text, value)) return 'a name stands twice in this record: leave one of the two'
    return inexact === undefined ? { value } : `the number ${inexact} has more digits than a number can keep`
  } catch (error) {
    return `this is not valid JSON: ${(error as Error).message}`
  }
}

/** JSON.parse keeps the last of two fields of one name, and says nothing. */
const hasNameTwice = (text: string, value: unknown): boolean => {
  // Most records are flat and plainly written, and this many names are found without reading the text once more.
  let names = 0
  for (let at = text.indexOf('":'); at !== -1; at = text.indexOf('":', at + 2)) names++
  if (typeof value === 'object' && value !== null && names === Object.keys(value).length && !text.includes('{', 1))
    return false
  const written = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined)
  return written.length > namesIn(value)
}

const namesIn = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0
  const inside = Object.values(value).reduce((sum: number, each) => sum + namesIn(each), 0)
  return Array.isArray(value) ? inside : Object.keys(value).length + inside
}

// Numbers of up to 15 digits are always kept exactly.
const longDigits = /[\d.]{16}/

/** The first number whose digits are not those that JavaScript makes of it: it would be sent as another one. */
const inexactNumberIn = (text: string): string | undefined => {
  const outsideOfText = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
  for (const [number] of outsideOfText.matchAll(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g))
    if (!isExact(number)) return number
  return undefined
}
