// A file of refused records, as the command line and the console write it and take it back: the columns of the file that was sent,
// and four more that say where each record stood and what is wrong with it. It is opened with Excel, mended, and sent again.

type Reason = { code: string; field: string | null; message: string }

const remarkNames = ['weir_line', 'weir_code', 'weir_field', 'weir_message']

/** These are about a record, and no part of it. */
export const isRemark = (name: string): boolean => name.startsWith('weir_')

export const withoutRemarks = (given: unknown): unknown =>
  isRecord(given) ? Object.fromEntries(Object.entries(given).filter(([name]) => !isRemark(name))) : given

const isRecord = (given: unknown): given is object =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

/** The columns of a file that are fields of its records, as they were meant. */
export const fieldColumns = (columns: readonly string[]): string[] =>
  columns.filter((name) => !isRemark(name)).map((name) => (isOfRefused(columns) ? restored(name) : name))

/** Whether a file with these columns is one of refused records, so that its cells were made harmless. */
export const isOfRefused = (columns: readonly string[]): boolean => remarkNames.some((name) => columns.includes(name))

/** A refused record of a JSON file, as it is written; `record` is its number. What is no record stands there as text. */
export const refusedRecordOf = (given: unknown, line: number, problems: readonly Reason[], record?: number): object => {
  return {
    ...(isRecord(given) ? (withoutRemarks(given) as object) : { weir_text: given }),
    ...(record !== undefined && { weir_record: record }),
    ...remarksOf(line, problems),
  }
}

const remarksOf = (line: number, problems: readonly Reason[]) => ({
  weir_line: line,
  weir_code: unique(problems.map(({ code }) => code)),
  weir_field: unique(problems.map(({ field }) => field ?? '')),
  weir_message: unique(problems.map(({ message }) => message)),
})

const unique = (words: string[]): string => [...new Set(words.filter(Boolean))].join('; ')

/** Writes the lines of such a file. Columns that an earlier upload added are replaced by the new ones. */
export const createRefusedLines = (columns: readonly string[], delimiter = ',') => {
  const own = columns.flatMap((name, at) => (isRemark(name) ? [] : { name, at }))
  return {
    header: csvLine([...own.map(({ name }) => harmless(name)), ...remarkNames], delimiter),
    /** `cells` are those of the record as they were meant: those of a file of refused records are `restored` before. */
    line: (cells: readonly string[], line: number, problems: readonly Reason[]): string =>
      csvLine(
        [...own.map(({ at }) => cells[at] ?? ''), ...Object.values(remarksOf(line, problems)).map(String)].map(
          harmless,
        ),
        delimiter,
      ),
  }
}

// Excel runs a cell that begins with one of these as a formula. An apostrophe before it makes it text; where one stands there
// already, a second one is put before it, so that taking one away always gives back what was written.
const runs = /^'*[=+\-@\t\r]/
const plainNumber = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

export const harmless = (cell: string): string => (runs.test(cell) && !plainNumber.test(cell) ? `'${cell}` : cell)

/** The cell as it was before it was made harmless. */
export const restored = (cell: string): string => (cell.startsWith("'") && runs.test(cell) ? cell.slice(1) : cell)

export const csvLine = (cells: readonly string[], delimiter = ','): string =>
  `${cells.map((cell) => csvCell(cell, delimiter)).join(delimiter)}\n`

const csvCell = (cell: string, delimiter: string): string =>
  /["\r\n]|^\s|\s$/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell
