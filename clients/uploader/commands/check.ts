import type { Command } from 'commander'
import { catalogue } from '../../../schemas/catalogue.js'
import { createValidator } from '../../../schemas/derive/validator.js'
import { openRows } from '../read/open-rows.js'
import { explained } from '../records/explain.js'
import { type Chosen, chooseFiles } from '../records/files.js'
import { createToRecord, type Mapping } from '../records/mapping.js'
import { takenForUtc } from '../records/zone.js'
import { showRefused, summaryOf, tableOf } from '../report/summary.js'
import { toChunks } from '../send/chunks.js'
import { addAnswer, createReport, type FileReport } from '../send/tally.js'
import type { RefusedRow } from '../state/refused-file.js'
import { exitCodes } from './exit-codes.js'
import { addReadingOptions, choiceOf, mappingOf, type ReadingOptions, type Terminal, takenFor } from './options.js'

// So that a terminal is not flooded; the table counts all of them.
const mostShown = 20

export const addCheck = (program: Command, terminal: Terminal): void => {
  const command = program
    .command('check')
    .description('check files by the catalogue alone: no server is asked, so references are not looked up')
    .argument('<files...>', 'files, folders, or - for standard input')
  addReadingOptions(command).action(async (paths: string[], options: ReadingOptions) => {
    const begunAt = performance.now()
    const { files } = await chooseFiles(paths, choiceOf(options), catalogue)
    for (const line of files.flatMap(takenFor)) process.stderr.write(`weir: ${line}\n`)
    const reports: FileReport[] = []
    for (const chosen of files) reports.push(await checkFile(chosen, mappingOf(options), terminal))
    const summary = summaryOf(reports, Math.round((performance.now() - begunAt) / 10) / 100)
    terminal.out(options.json ? JSON.stringify(summary) : tableOf(reports, summary, 'checked'))
    process.exitCode = terminal.signal.aborted
      ? exitCodes.interrupted
      : summary.refused > 0
        ? exitCodes.refused
        : exitCodes.accepted
  })
}

const checkFile = async (
  { file, type, form, dialect }: Chosen,
  mapping: Mapping,
  terminal: Terminal,
): Promise<FileReport> => {
  const report = createReport(file, type.type)
  const rows = await openRows(file, form, undefined, dialect)
  const toRecord = createToRecord(type, rows.columns, mapping, dialect, () =>
    process.stderr.write(`weir: ${takenForUtc(file)}\n`),
  )
  const validate = createValidator(type)
  for await (const chunk of toChunks(rows, { records: 1000, bytes: 1024 * 1024 }, { offset: 0, records: 0 })) {
    const refused = chunk.rows.flatMap((row): RefusedRow[] => {
      if (row.unreadable !== undefined)
        return [{ row, problems: [{ code: 'unreadable', field: null, message: row.unreadable }] }]
      const record = toRecord(row)
      const found = validate(record)
      return 'problems' in found ? [{ row, problems: explained(type, record, found.problems) }] : []
    })
    for (const each of refused.slice(0, Math.max(0, mostShown - report.refused)))
      process.stderr.write(`${file}, ${showRefused(each, rows.columns)}\n`)
    addAnswer(report, { chunk, sent: 0, refused, waiting: 0 })
    if (terminal.signal.aborted) return report
  }
  report.state = 'finished'
  return report
}
