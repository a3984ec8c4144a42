import { Transform } from 'node:stream'
import { createGzip } from 'node:zlib'
import { OperatorError } from '../../command/operator-error.js'

/** How rows are written: by ClickHouse's own name for the first piece and for the others, which do not repeat the names of columns. */
export type ExportFormat = { name: string; first: string; others: string; isPacked: boolean }

const formats: Readonly<Record<string, { first: string; others: string }>> = {
  parquet: { first: 'Parquet', others: 'Parquet' },
  csv: { first: 'CSVWithNames', others: 'CSV' },
  ndjson: { first: 'JSONEachRow', others: 'JSONEachRow' },
}

/** The format that the end of a file's name asks for. */
export const formatOf = (file: string): ExportFormat => {
  const [, ending = '', packed] = /\.(\w+?)(\.gz)?$/.exec(file) ?? []
  const found = formats[ending]
  if (!found || (packed && ending === 'parquet'))
    throw new OperatorError(
      `the end of the file's name says the format: .parquet, .csv, .csv.gz, .ndjson or .ndjson.gz, as in --out sales.parquet`,
    )
  return { name: `${ending}${packed ?? ''}`, ...found, isPacked: packed !== undefined }
}

/** Packs each piece for itself: files of gzip may stand one behind another, and unpack as one. */
export const packer = (): Transform => createGzip({ level: 6 })

/** Counts the lines that go through. In CSV, an end of a line between quotation marks belongs to a value. */
export const createLineCounter = ({ name }: ExportFormat) => {
  const mark = name.startsWith('csv') ? 0x22 : undefined
  let lines = 0
  let isQuoted = false
  const stream = new Transform({
    transform(block: Buffer, _, done) {
      for (const byte of block) {
        if (byte === mark) isQuoted = !isQuoted
        else if (byte === 0x0a && !isQuoted) lines++
      }
      done(null, block)
    },
  })
  return { stream, lines: () => lines }
}
