import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ClickHouse } from '#platform/clickhouse.js'
import { OperatorError } from '../../command/operator-error.js'
import type { ExportFormat } from './format.js'
import {
  type ExportHeader,
  type ExportPast,
  type ExportSubject,
  type ExportWorker,
  openExportJournal,
  readExportJournal,
} from './journal.js'
import { openPartFile, removeFile, sizeOf, syncFolder } from './part-file.js'
import { type Bound, rangeCondition, rangesBetween } from './ranges.js'
import type { ExportSource } from './source.js'

export type ExportRun = {
  clickhouse: Pick<ClickHouse, 'query' | 'readBytes'>
  source: ExportSource
  subject: ExportSubject
  format: ExportFormat
  file: string
  /** The moment whose records are wanted; without it, this one. */
  at?: string | undefined
  isRestart: boolean
  /** How many rows a piece has, more or less. */
  rowsInPiece: number
  /** Hears how far an earlier run came, when this one goes on behind it. */
  onResume: (progress: ExportProgress) => void
  /** Hears how far it is, after each piece. */
  onProgress: (progress: ExportProgress) => void
}

export type ExportProgress = { pieces: number; of: number; rows: number; bytes: number; at: string }
export type Exported = { rows: number; bytes: number; pieces: number; at: string; resumed: boolean }

const readOnly = { readonly: '2' } as const
// Exact numbers are text in JSON, because many readers would round them; times are written as in the HTTP interface.
const written = { ...readOnly, output_format_json_quote_decimals: 1, date_time_output_format: 'iso' } as const

export const filesOf = (file: string) => ({ part: `${file}.part`, journal: `${file}.journal` })

/** Writes rows to a file, piece by piece; goes on where an earlier run with the same subject ended, however that ended. */
export const runExport = async (run: ExportRun): Promise<Exported> => {
  const { part, journal: journalPath } = filesOf(run.file)
  const before = await findPast(run)
  const past = before ?? { header: await begin(run), pieces: [], length: 0 }
  const { at, bounds } = past.header
  const ranges = rangesBetween(bounds)
  const pieces = [...past.pieces]
  const done = () => ({
    ...{ at, pieces: pieces.length, bytes: pieces.at(-1)?.end ?? 0 },
    rows: pieces.reduce((sum, { rows }) => sum + rows, 0),
  })
  const progress = () => ({ ...done(), of: ranges.length })

  // The earlier run was ended between its last two steps.
  if (await isComplete(run.file)) {
    await removeFile(journalPath)
    return { ...done(), bytes: (await sizeOf(run.file)) ?? 0, resumed: true }
  }
  const journal = await openExportJournal(journalPath, past.length)
  const file = await openPartFile(part, run.format, pieces)
  try {
    if (!before) await journal.add(past.header)
    await journal.add({ pid: process.pid, host: hostname() })
    await syncFolder(dirname(run.file))
    if (before) run.onResume(progress())
    for (const range of ranges.slice(pieces.length)) {
      const isFirst = pieces.length === 0
      const { where, values } = rangeCondition(run.source.key, range)
      const answer = await run.clickhouse.readBytes(
        `${run.source.rows(where)}\nformat ${isFirst ? run.format.first : run.format.others}`,
        { ...run.source.values, ...(run.source.isOfMoment && { at }), ...values },
        written,
      )
      const piece = await file.append(answer, isFirst)
      await journal.add(piece)
      pieces.push(piece)
      run.onProgress(progress())
    }
    const bytes = await file.complete(run.file, {
      weir: JSON.stringify({ ...run.subject, columns: undefined, server: undefined, at }),
    })
    await removeFile(journalPath)
    return { ...done(), bytes, resumed: before !== undefined }
  } finally {
    await file.close()
    await journal.close()
  }
}

const isComplete = async (file: string): Promise<boolean> => (await sizeOf(file)) !== undefined

/** What an earlier run left. Throws, with the next step, where another one is at work, or the file is there already. */
const findPast = async ({ file, subject, isRestart }: ExportRun): Promise<ExportPast | undefined> => {
  const { part, journal } = filesOf(file)
  const [size, complete] = await Promise.all([sizeOf(part), sizeOf(file)])
  const past = await readExportJournal(journal, size ?? complete ?? 0)
  if (past?.worker && isAtWork(past.worker))
    throw new OperatorError(
      `another "weir export" is writing ${file} (process ${past.worker.pid}): wait until it is done`,
    )
  const changed = past ? changesIn(past.header, subject) : []
  if (complete !== undefined && (!past || size !== undefined || changed.length > 0 || isRestart))
    throw new OperatorError(`${file} is there already: remove it, or name another file with --out`)
  if (isRestart || !past) return undefined
  if (changed.length === 0) return past
  throw new OperatorError(
    `${part} was begun with something else (${changed.join(', ')}): ask for the same again, name another file, or begin anew with --restart`,
  )
}

const changesIn = ({ of }: ExportHeader, subject: ExportSubject): string[] =>
  Object.entries(of).flatMap(([name, value]) => {
    if (isDeepStrictEqual(value, subject[name as keyof ExportSubject])) return []
    return name === 'columns' ? 'the columns were others' : `${name} was ${JSON.stringify(value)}`
  })

const isAtWork = ({ pid, host }: ExportWorker): boolean => {
  if (host !== hostname() || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process is there, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Chooses the moment and the keys between the pieces. */
const begin = async ({ clickhouse, source, subject, at: given, rowsInPiece }: ExportRun): Promise<ExportHeader> => {
  const [clock] = await clickhouse.query<{ at: string }>("select toString(now64(3, 'UTC')) as at", {}, readOnly)
  const at = given ?? clock?.at ?? ''
  const values = { ...source.values, ...(source.isOfMoment && { at }), size: rowsInPiece }
  const names = source.key.map(({ name }) => name)
  // Were a key missing here or one too many, pieces would be larger or smaller, and no row would be lost.
  const found = await clickhouse.query<{ bound: Bound }>(
    `select distinct [${names.map((name) => `toString(${name})`).join(', ')}] as bound, ${names.join(', ')}
    from (select ${names.join(', ')}, rowNumberInAllBlocks() + 1 as n from (${source.keys}))
    where n % {size:UInt64} = 0
    order by ${names.join(', ')}`,
    values,
    readOnly,
  )
  return { weir_export: 1, of: subject, at, bounds: found.map(({ bound }) => bound) }
}
