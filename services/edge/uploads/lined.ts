import { requestError } from '#http/request-error.js'
import type { RecordType } from '#schemas/record.js'
import type { ToEntry } from '../batches/entries.js'
import type { ReadLined } from '../body/body.js'
import { createOpenCsv } from '../body/csv.js'
import { type LinedFormat, type LinesRead, type OpenLines, readLines } from '../body/lines.js'
import { createOpenNdjson } from '../body/ndjson.js'

/** How the lines of a body become records of this type, by format. */
export const createOpenLined = (type: RecordType, toEntry: ToEntry): Record<LinedFormat, OpenLines> => ({
  ndjson: createOpenNdjson(type, toEntry),
  csv: createOpenCsv(type, toEntry),
})

/** Reads an upload whose records stand in lines: at most as many as an upload of this type may carry. */
export const createReadLined = (type: RecordType, toEntry: ToEntry): Record<LinedFormat, ReadLined> => {
  const open = createOpenLined(type, toEntry)
  const reader =
    (format: LinedFormat): ReadLined =>
    async (bytes, pause) => {
      const opened = open[format](bytes, true)
      if (!opened || 'error' in opened) return opened ?? empty
      const into: LinesRead = { entries: [], lines: [], passedOver: 0 }
      const isEnough = () => into.entries.length > type.limit
      await readLines(opened.readNext, bytes, opened.at, { isLast: true, isEnough, pause }, into)
      if (isEnough()) return tooMany
      return into.entries.length === 0 ? empty : { entries: into.entries, lines: into.lines }
    }
  const empty = { error: requestError(400, 'the body holds no records') }
  const tooMany = {
    error: requestError(
      400,
      `a request may carry at most ${type.limit} ${type.type}; POST the same body to /v1/imports/${type.type}, which takes any number, or send it in parts`,
    ),
  }
  return { ndjson: reader('ndjson'), csv: reader('csv') }
}
