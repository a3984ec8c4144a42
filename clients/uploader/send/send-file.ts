import { setMaxListeners } from 'node:events'
import { createValidator } from '../../../schemas/derive/validator.js'
import type { RecordType } from '../../../schemas/record.js'
import { createIdGate, type InFlight, type InFlightPlace, WeirError } from '../../typescript/src/index.js'
import type { FileRows, Row } from '../read/row.js'
import { explained } from '../records/explain.js'
import type { ToRecord } from '../records/mapping.js'
import type { ChunkSize } from '../state/journal.js'
import type { RefusedRow } from '../state/refused-file.js'
import type { Budget } from './budget.js'
import { type Chunk, toChunks } from './chunks.js'
import type { RecordsAnswer, RefusedAt, SendRecords } from './send-records.js'

/** What became of a chunk. */
export type ChunkAnswer = { chunk: Chunk; sent: number; refused: RefusedRow[]; waiting: number }

type FileSending = {
  type: RecordType
  rows: FileRows
  size: ChunkSize
  /** Where the rows begin, and how many records are before them. */
  start: { offset: number; records: number }
  toRecord: ToRecord
  send: SendRecords
  keyOf: (chunk: Chunk) => string | undefined
  isAnswered: (chunk: Chunk) => boolean
  /** Called for one chunk at a time, in the order of the answers; a chunk counts as answered once this has resolved. */
  onAnswer: (answer: ChunkAnswer) => Promise<void>
  /** `isHeard` where the server answered, though not with what became of the records. */
  onRetry: (message: string, waitMs: number, isHeard: boolean) => void
  /** How long to go on trying where no answer comes, in milliseconds. */
  patience: () => number
  inFlight: InFlight
  budget: Budget
  signal: AbortSignal
}

/**
 * Sends what is not answered yet of a file, several chunks at once, and never two that hold a record of the same id. Resolves to
 * whether all of it is answered; rejects with the first failure, when nothing is under way any more.
 */
export const sendFile = async (file: FileSending): Promise<boolean> => {
  const gate = createIdGate()
  const underWay = new Set<Promise<void>>()
  const stop = new AbortController()
  // Each request under way listens, and there may be many. Node takes that for a leak.
  setMaxListeners(0, stop.signal)
  const onInterrupt = () => stop.abort(file.signal.reason)
  file.signal.addEventListener('abort', onInterrupt)
  if (file.signal.aborted) onInterrupt()
  let failure: { error: unknown } | undefined
  let writing = Promise.resolve()

  const fail = (error: unknown): void => {
    failure ??= { error }
    stop.abort(error)
  }
  const countWrong = createCountWrong(file.type)
  /** Resolves to false where it is not sent, because too much of it would be refused. */
  const sendChunk = async (chunk: Chunk): Promise<boolean> => {
    const place = await file.inFlight.enter(stop.signal)
    const readable = chunk.rows.filter(({ unreadable }) => unreadable === undefined)
    const records = recordsOf(readable, file.toRecord, place)
    const wrong = file.budget.isBounded ? chunk.rows.length - readable.length + countWrong(records) : 0
    file.budget.foresee(chunk.rows.length, wrong)
    if (file.budget.isSpent()) {
      place.leave(false)
      return false
    }
    // In the order of the file, and before anything is waited for: the later of two rows with one id stays the later one.
    const turn = gate.enter(idsOf(records, file.type.id))
    const settle = async (): Promise<boolean> => {
      await turn.ready
      stop.signal.throwIfAborted()
      const { refused, waiting } =
        records.length === 0 ? nothing : await sendPatiently(file, chunk, records, stop.signal, place.busy)
      const reasons = refused.map(({ index, problems }) => ({
        index,
        problems: explained(file.type, records[index], problems),
      }))
      const rows = withReasons(chunk.rows, readable, reasons)
      writing = writing.then(() => file.onAnswer({ chunk, sent: records.length, refused: rows, waiting }))
      await writing
      file.budget.foresee(-chunk.rows.length, -wrong)
      file.budget.add(chunk.rows.length, rows.length)
      return true
    }
    const over = settle().then(
      (isAnswered) => place.leave(isAnswered),
      (error: unknown) => {
        place.leave(false)
        fail(error)
      },
    )
    const task = over.finally(() => {
      turn.leave()
      underWay.delete(task)
    })
    underWay.add(task)
    return true
  }

  let isWhole = true
  try {
    for await (const chunk of toChunks(file.rows, file.size, file.start)) {
      // While chunks grow, each waits for the one before it: where all records are refused, that is seen early.
      if (file.budget.isBounded && chunk.before < file.size.records) await Promise.all(underWay)
      const isOver = stop.signal.aborted || file.budget.isSpent()
      if (isOver || (!file.isAnswered(chunk) && !(await sendChunk(chunk)))) {
        isWhole = false
        break
      }
    }
  } catch (error) {
    fail(error)
  }
  await Promise.all(underWay)
  file.signal.removeEventListener('abort', onInterrupt)
  if (failure) throw failure.error
  return isWhole
}

/** Other files go on where one of these records cannot be made, so the place is given back. */
const recordsOf = (rows: readonly Row[], toRecord: ToRecord, place: InFlightPlace): Record<string, unknown>[] => {
  try {
    return rows.map(toRecord)
  } catch (error) {
    place.leave(false)
    throw error
  }
}

const nothing: RecordsAnswer = { refused: [], waiting: 0 }

/** Until it is answered or patience ends, which may have grown: a server that answers 503 is there. */
const sendPatiently = async (...given: Parameters<typeof sendOnce>): Promise<RecordsAnswer> => {
  const [file] = given
  for (;;) {
    const patience = file.patience()
    try {
      return await sendOnce(...given)
    } catch (error) {
      const isPassing = error instanceof WeirError && (error.kind === 'network' || error.kind === 'server')
      if (!isPassing || file.patience() <= patience) throw error
    }
  }
}

const createCountWrong = (type: RecordType) => {
  const validate = createValidator(type)
  return (records: readonly unknown[]): number => records.filter((record) => 'problems' in validate(record)).length
}

const sendOnce = (
  file: FileSending,
  chunk: Chunk,
  records: Record<string, unknown>[],
  signal: AbortSignal,
  busy: () => void,
) => {
  const idempotencyKey = file.keyOf(chunk)
  return file.send(records, {
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    signal,
    giveUpAfterMs: file.patience(),
    onRetry: ({ status, message, waitMs }) => {
      if (status === 429 || status === 503) busy()
      file.onRetry(message, waitMs, status !== undefined)
    },
  })
}

const idsOf = (records: readonly Record<string, unknown>[], id: string): string[] => {
  const ids: string[] = []
  for (const record of records) {
    const value = typeof record === 'object' && record !== null ? record[id] : undefined
    if (typeof value === 'string') ids.push(value)
  }
  return ids
}

/** The refused rows of a chunk in the order of the file, those that could not even be read among them. */
const withReasons = (rows: readonly Row[], readable: readonly Row[], refused: readonly RefusedAt[]): RefusedRow[] => {
  const problemsOf = new Map(refused.map(({ index, problems }) => [readable[index], problems]))
  return rows.flatMap((row) => {
    if (row.unreadable !== undefined)
      return { row, problems: [{ code: 'unreadable', field: null, message: row.unreadable }] }
    const problems = problemsOf.get(row)
    return problems ? { row, problems } : []
  })
}
