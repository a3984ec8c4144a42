import { openRows } from '../read/open-rows.js'
import type { FileRows, Row } from '../read/row.js'
import type { Chosen } from '../records/files.js'
import { createToRecord } from '../records/mapping.js'
import { takenForUtc } from '../records/zone.js'
import { showRefused } from '../report/summary.js'
import { chunkSizeOf } from './chunks.js'
import { type ChunkAnswer, sendFile } from './send-file.js'
import { createSendRecords } from './send-records.js'
import { addAnswer, createReport } from './tally.js'
import type { FileUpload, FileUploadDeps } from './upload-file.js'

/** A dry run of a file, or of its first records: nothing is kept, here or there. Of a trial, each refused record is shown. */
export const tryFile = async (chosen: Chosen, deps: FileUploadDeps, trial: number | undefined): Promise<FileUpload> => {
  const { file, type, form, size, dialect } = chosen
  const report = createReport(file, type.type)
  let endProgress = () => {}
  try {
    const all = await openRows(file, form, undefined, dialect)
    const rows: FileRows = trial === undefined ? all : { ...all, blocks: firstOf(all.blocks, trial) }
    const toRecord = createToRecord(type, rows.columns, deps.mapping, dialect, () =>
      deps.progress.note(takenForUtc(file)),
    )
    endProgress = deps.progress.begin({ file, size, read: all.read, report })
    const onAnswer = async (answer: ChunkAnswer): Promise<void> => {
      addAnswer(report, answer)
      if (trial !== undefined)
        for (const refused of answer.refused) deps.progress.note(`${file}, ${showRefused(refused, rows.columns)}`)
      deps.progress.answered()
    }
    const isWhole = await sendFile({
      ...deps,
      type,
      rows,
      size: chunkSizeOf(type, deps.budget.isBounded),
      start: { offset: 0, records: 0 },
      toRecord,
      send: createSendRecords(deps.weir, type, { dryRun: true, wait: deps.wait }),
      keyOf: () => undefined,
      isAnswered: () => false,
      onAnswer,
      onRetry: deps.progress.waits,
      patience: () => 30_000,
    })
    report.state = isWhole ? 'finished' : 'stopped'
    return { report }
  } catch (failure) {
    return { report, failure }
  } finally {
    endProgress()
  }
}

async function* firstOf(blocks: AsyncIterable<Row[]>, most: number): AsyncGenerator<Row[]> {
  let left = most
  for await (const rows of blocks) {
    if (rows.length >= left) {
      yield rows.slice(0, left)
      return
    }
    left -= rows.length
    yield rows
  }
}
