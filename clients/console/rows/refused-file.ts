import { type Dialect, plainDialect } from '../../typescript/src/files/dialect.js'
import { createRefusedLines, isOfRefused, refusedRecordOf, restored } from '../../typescript/src/files/refused-csv.js'
import type { RecordProblem } from '../../typescript/src/index.js'
import type { FileRow } from './read-file.js'

/** A row that was refused, and why. */
export type RefusedFileRow = { row: Pick<FileRow, 'line' | 'given'>; problems: readonly RecordProblem[] }

/** The refused rows as a file of the same kind, with columns that say where each stood and what is wrong with it. */
export const refusedFile = (
  columns: readonly string[] | undefined,
  refused: readonly RefusedFileRow[],
  { encoding, delimiter }: Pick<Dialect, 'encoding' | 'delimiter'> = plainDialect,
): Blob => {
  if (!columns) {
    const lines = refused.map(
      ({ row, problems }) => `${JSON.stringify(refusedRecordOf(row.given, row.line, problems))}\n`,
    )
    return new Blob(lines, { type: 'application/x-ndjson' })
  }
  const asMeant = isOfRefused(columns) ? restored : (cell: string) => cell
  const { header, line } = createRefusedLines(columns.map(asMeant), delimiter)
  const lines = refused.map(({ row, problems }) => line((row.given as string[]).map(asMeant), row.line, problems))
  // It is in UTF-8 whatever the file was; a byte order mark says so.
  return new Blob([encoding === 'utf-8' ? '' : '\ufeff', header, ...lines], { type: 'text/csv' })
}

/** Has the browser save a file. */
export const save = (name: string, blob: Blob): void => {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
