import type { RecordProblem } from '../../typescript/src/index.js'
import type { FileRow } from './read-file.js'

/** A row that was refused, and why. */
export type RefusedFileRow = { row: FileRow; problems: readonly RecordProblem[] }

/** The refused rows as a file of the same kind, with two more columns that say where each stood and what is wrong with it. */
export const refusedFile = (columns: readonly string[] | undefined, refused: readonly RefusedFileRow[]): Blob => {
  if (!columns) {
    const lines = refused.map(
      ({ row, problems }) => `${JSON.stringify({ line: row.line, problems, record: row.given })}\n`,
    )
    return new Blob(lines, { type: 'application/x-ndjson' })
  }
  const lines = refused.map(({ row, problems }) => {
    const cells = Array.from(columns, (_, index) => String((row.given as string[])[index] ?? ''))
    const reasons = problems.map(({ message }) => message).join('; ')
    return csvLine([...cells, String(row.line), reasons])
  })
  return new Blob([csvLine([...columns, 'refused_line', 'refused_because']), ...lines], { type: 'text/csv' })
}

const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\n`
const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Has the browser save a file. */
export const save = (name: string, blob: Blob): void => {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
