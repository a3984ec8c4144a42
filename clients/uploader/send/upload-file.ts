import { randomBytes } from 'node:crypto'
import { claimFile } from '../../../deploy/embedded/supervision/claim-file.mjs'
import type { InFlight, Weir } from '../../typescript/src/index.js'
import { openRows } from '../read/open-rows.js'
import { UsageError } from '../read/row.js'
import type { Chosen } from '../records/files.js'
import { createToRecord, identityOf, type Mapping } from '../records/mapping.js'
import { takenForUtc } from '../records/zone.js'
import type { FileProgress } from '../report/progress.js'
import { fingerprintOf } from '../state/fingerprint.js'
import {
  beginJournal,
  continueJournal,
  end,
  type Header,
  type Journal,
  journalOf,
  type Past,
  placeAfter,
  readJournal,
} from '../state/journal.js'
import { nothingVouched, openRefusedFile, refusedFileOf, setAsideRefused, type Vouched } from '../state/refused-file.js'
import type { Budget } from './budget.js'
import { chunkSizeOf, idempotencyKeyOf } from './chunks.js'
import { type ChunkAnswer, sendFile } from './send-file.js'
import { createSendRecords } from './send-records.js'
import { addAnswer, addTally, createReport, type FileReport, tallyOf } from './tally.js'
import type { Target } from './target.js'

export type FileUploadDeps = {
  target: Target
  weir: Weir
  mapping: Mapping
  restart: boolean
  /** How long records wait for what they refer to, such as 24h; without it they are refused at once. */
  wait: string | undefined
  inFlight: InFlight
  budget: Budget
  progress: FileProgress
  signal: AbortSignal
  /** The command of this run for these files, to be pasted. */
  again: (files: readonly string[]) => string
}

/** What became of a file, and why it went no further, if so. */
export type FileUpload = { report: FileReport; failure?: unknown }

/** Sends what an earlier run did not, and keeps the journal of it beside the file. */
export const uploadFile = async (chosen: Chosen, deps: FileUploadDeps): Promise<FileUpload> => {
  const report = createReport(chosen.file, chosen.type.type)
  let release = () => {}
  try {
    if (chosen.file !== '-') release = claim(chosen.file)
    return { report, ...(await upload(chosen, deps, report)) }
  } catch (failure) {
    return { report, failure }
  } finally {
    release()
  }
}

const upload = async (chosen: Chosen, deps: FileUploadDeps, report: FileReport): Promise<{ failure?: unknown }> => {
  const { file, type, form, dialect } = chosen
  const isStream = file === '-'
  const past = isStream ? undefined : await readJournal(file)
  const before = deps.restart ? undefined : past
  const fingerprint = isStream
    ? { sha256: '', size: 0, mtimeMs: 0 }
    : await fingerprintOf(file, before?.header.fingerprint, deps.signal)
  const header: Header = before?.header ?? {
    weir_journal: 1,
    server: deps.target.url,
    key_id: deps.target.keyId,
    type: type.type,
    mapping: identityOf(deps.mapping, dialect),
    fingerprint,
    attempt: deps.restart || isStream ? randomBytes(8).toString('hex') : '',
    ...(deps.wait !== undefined && { wait: deps.wait }),
    chunk_size: chunkSizeOf(type, deps.budget.isBounded),
  }
  if (before) refuseAnother(before, chosen, fingerprint.sha256, deps)
  const refusedPath = refusedFileOf(file, form.format)
  for (const chunk of before?.answered ?? []) addTally(report, chunk)
  deps.budget.add(report.records, report.refused)
  if (report.refused > 0) report.refused_file = refusedPath
  if (before?.isFinished) {
    report.skipped = report.records
    report.state = 'finished'
    deps.progress.note(`${file} is finished: nothing is sent. To send it all again: ${deps.again([file])} --restart`)
    return {}
  }
  if (before && before.header.key_id !== deps.target.keyId)
    deps.progress.note(`${file}: the key is another one than before; this goes on for the same organisation`)

  const place = before && placeAfter(before.answered)
  const rows = await openRows(file, form, place, dialect)
  const toRecord = createToRecord(type, rows.columns, deps.mapping, dialect, () =>
    deps.progress.note(takenForUtc(file)),
  )
  if (!before) {
    const old = await setAsideRefused(refusedPath, form.format, vouchedBy(past))
    if (old) deps.progress.note(`${file}: refused records of an earlier upload are now in ${old}`)
  }
  const refusedFile = await openRefusedFile(
    refusedPath,
    { format: form.format, columns: rows.columns, dialect },
    vouchedBy(before),
  )
  const journal = await openJournal(file, header, before?.length)
  const answered = new Set(before?.answered.map(({ from, to }) => `${from}-${to}`))
  report.skipped = report.records
  const endProgress = deps.progress.begin({ file, size: chosen.size, read: rows.read, report })

  const onAnswer = async (answer: ChunkAnswer): Promise<void> => {
    const { from, to, line, nextLine } = answer.chunk
    const { bytes, sha256 } = await refusedFile.add(answer.refused)
    const where = { from, to, line, next_line: nextLine }
    await journal?.add({ ...where, ...tallyOf(answer), refused_bytes: bytes, refused_sha256: sha256 })
    addAnswer(report, answer)
    if (answer.refused.length > 0) report.refused_file = refusedPath
    deps.progress.answered()
  }

  try {
    const isWhole = await sendFile({
      ...deps,
      type,
      rows,
      size: header.chunk_size,
      start: { offset: place?.offset ?? 0, records: place?.records ?? 0 },
      toRecord,
      send: createSendRecords(deps.weir, type, { dryRun: false, wait: deps.wait }),
      keyOf: (chunk) => idempotencyKeyOf(header, chunk),
      isAnswered: ({ from, to }) => answered.has(`${from}-${to}`),
      onAnswer,
      onRetry: deps.progress.waits,
      patience: () => (deps.progress.hasAnswer() ? patience : patienceAtStart),
    })
    if (!isWhole) return {}
    await journal?.add(end)
    report.state = 'finished'
    return {}
  } catch (failure) {
    return { failure }
  } finally {
    await journal?.close()
    await refusedFile.close()
    endProgress()
  }
}

const vouchedBy = (past: Past | undefined): Vouched => {
  const last = past?.answered.at(-1)
  return last ? { bytes: last.refused_bytes, sha256: last.refused_sha256 } : nothingVouched
}

// A server that never answered is most likely not there. One that did is restarted or mended, and a night's upload should see
// the morning; an upload that is ended sooner loses nothing either.
const patienceAtStart = 30_000
const patience = 15 * 60_000

const openJournal = async (file: string, header: Header, length: number | undefined): Promise<Journal | undefined> => {
  if (file === '-') return undefined
  try {
    return length === undefined ? await beginJournal(file, header) : await continueJournal(file, length)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw error
    throw new UsageError(
      `the journal ${journalOf(file)} cannot be written (${code}): copy the file to a folder that is yours, and upload it there`,
    )
  }
}

const claim = (file: string): (() => void) => {
  const lock = `${journalOf(file)}.lock`
  try {
    const claimed = claimFile(lock)
    if (claimed.holder)
      throw new UsageError(
        `${file} is being uploaded by another process (${claimed.holder.pid}): wait for it, or end it with kill ${claimed.holder.pid}`,
      )
    return claimed.release
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new UsageError(`there is no file ${file}: look for a slip in its name`)
    if (code === 'EACCES' || code === 'EROFS')
      throw new UsageError(`nothing can be written beside ${file} (${code}): copy it to a folder that is yours`)
    throw error
  }
}

const refuseAnother = (past: Past, { file, type, dialect }: Chosen, sha256: string, deps: FileUploadDeps): void => {
  const { header } = past
  const anew = `${deps.again([file])} --restart`
  const refuse = (what: string, otherwise: string) => {
    throw new UsageError(`${file} ${what}: ${otherwise}to send all of it: ${anew}`)
  }
  if (header.server !== deps.target.url)
    refuse(`was uploaded to ${header.server} before, and now it is for ${deps.target.url}`, '')
  if (header.fingerprint.sha256 !== sha256) refuse('was changed since its upload began', '')
  if (header.type !== type.type) refuse(`was begun as ${header.type}`, `go on with --type ${header.type}, or `)
  if (header.mapping !== identityOf(deps.mapping, dialect))
    refuse('was begun with other --map, --const or --skip-unknown, or read in another way', 'go on with the same, or ')
  if (header.wait !== deps.wait && !past.isFinished)
    refuse(`was begun ${header.wait === undefined ? 'without --wait' : `with --wait ${header.wait}`}`, 'go on so, or ')
}
