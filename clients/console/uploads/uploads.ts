import type { TypeReference } from '../../typescript/src/endpoints.js'
import { type RecordProblem, type Weir, WeirError } from '../../typescript/src/index.js'
import { newKey } from '../../typescript/src/send.js'
import { createIdGate } from '../../typescript/src/under-way/id-gate.js'
import { createInFlight, type InFlightPlace } from '../../typescript/src/under-way/in-flight.js'
import type { openParts, PartReader } from '../rows/open-in-worker.js'
import { type FilePart, hasPart, withPart } from '../rows/parts.js'
import type { FileReading } from '../rows/reading.js'
import type { RefusedFileRow } from '../rows/refused-file.js'
import type { UploadJournal, UploadJournals } from './journal.js'

/** How the SDK has records wait for what they refer to. */
export const patience: object = { missingReferences: 'wait', waitFor: '24h' }

// The rest is kept by the service: /v1/rejections has every refused record.
export const mostKept = 20_000

export type WantedUpload = {
  file: File
  type: TypeReference
  isPatient: boolean
  /** How it is read, where that is not said by itself. */
  reading?: FileReading | undefined
  /** Of the same file, where its upload stopped: what was answered then is not sent again. */
  journal?: UploadJournal | undefined
}

/** An upload as a page shows it. */
export type ShownUpload = WantedUpload & {
  state: 'running' | 'done' | 'stopped'
  /** How much of the file is decided, from 0 to 1. */
  share: number
  tally: { accepted: number; refused: number; waiting: number }
  /** Refused since the page was loaded. Those before that are known to the service alone. */
  refused: readonly RefusedFileRow[]
  opened: Pick<PartReader, 'format' | 'columns'> | undefined
  problem?: string | undefined
  retry?: string | undefined
}

export type ConsoleUploads = ReturnType<typeof createUploads>

type UploadsDeps = {
  weir: Pick<Weir, 'of' | 'interactions'>
  /** The organisation of the key. */
  org: string
  open: typeof openParts
  fingerprint: (file: File) => Promise<string>
  journals: UploadJournals
}

/** Sends one file at a time, whichever page is shown meanwhile. */
export const createUploads = ({ weir, org, open, fingerprint, journals }: UploadsDeps) => {
  const followers = new Set<() => void>()
  let shown: ShownUpload | undefined
  let ending = new AbortController()

  const change = (next: Partial<ShownUpload>) => {
    if (shown) shown = { ...shown, ...next }
    for (const tell of [...followers]) tell()
  }

  const begin = async ({ file, type, isPatient, reading, journal }: WantedUpload): Promise<UploadJournal> =>
    journal ?? {
      ...{ run: newKey(), at: 0, org, type: type.type, isPatient, reading, name: file.name, size: file.size },
      ...{ fingerprint: await fingerprint(file), answered: [], bytes: 0, accepted: 0, refused: 0, waiting: 0 },
    }

  const send = async (
    { file, type }: WantedUpload,
    first: UploadJournal,
    before: readonly RefusedFileRow[],
    signal: AbortSignal,
  ): Promise<void> => {
    const refused = [...before]
    const gate = createIdGate()
    const places = createInFlight({ most: 4 })
    const running = new Set<Promise<void>>()
    let journal = first
    let failure: { reason: unknown } | undefined
    const fail = (reason: unknown) => {
      failure ??= { reason }
    }
    const keep = (next: UploadJournal) => {
      journal = next
      const { accepted, refused: number, waiting } = journal
      journals.write(journal)
      change({ journal, share: journal.bytes / file.size, tally: { accepted, refused: number, waiting }, refused })
    }

    const sendPart = async (part: FilePart, bytes: number, place: InFlightPlace) => {
      const rows = part.rows.filter(({ fault }) => fault === undefined)
      // Of two records with one id the later wins: their parts go one after the other.
      const turn = gate.enter(rows.flatMap(({ record }) => idOf(type, record)))
      let isAnswered = false
      const noteRetry = ({
        status,
        message,
        waitMs,
      }: {
        status: number | undefined
        message: string
        waitMs: number
      }) => {
        if (status === 429 || status === 503) place.busy()
        change({ retry: `${message}; next attempt in ${Math.ceil(waitMs / 1000)} s` })
      }
      try {
        await turn.ready
        if (failure || signal.aborted) return
        const options = { ...(journal.isPatient && patience), signal, onRetry: noteRetry }
        const records = rows.map(({ record }) => record as Record<string, unknown>)
        const idempotencyKey = `${journal.run}-${part.number}`
        const answer = await sendRecords(weir.of(type.type), records, idempotencyKey, options)
        isAnswered = true
        const faults = part.rows.flatMap((row) => (row.fault ? [{ row, problems: [unreadable(row.fault)] }] : []))
        const found = answer.refused.flatMap(({ index, problems }) => {
          const row = rows[index]
          return row ? [{ row, problems }] : []
        })
        refused.push(...[...faults, ...found].slice(0, mostKept - refused.length))
        change({ retry: undefined })
        keep({
          ...journal,
          answered: withPart(journal.answered, part.number),
          bytes: journal.bytes + bytes,
          accepted: journal.accepted + answer.accepted,
          refused: journal.refused + found.length + faults.length,
          waiting: journal.waiting + answer.waiting,
        })
      } finally {
        turn.leave()
        place.leave(isAnswered)
      }
    }

    const reader = await open(file, type, { reading: journal.reading, answered: journal.answered })
    try {
      change({ opened: { format: reader.format, columns: reader.columns } })
      keep(journal)
      let read = 0
      while (!failure) {
        const place = await places.enter(signal)
        const part = failure ? undefined : await reader.next()
        if (!part) break
        const bytes = part.bytes - read
        read = part.bytes
        if (hasPart(first.answered, part.number)) place.leave(false)
        else {
          const job: Promise<void> = sendPart(part, bytes, place)
            .catch(fail)
            .finally(() => running.delete(job))
          running.add(job)
        }
      }
    } catch (reason) {
      fail(reason)
    } finally {
      await Promise.all(running)
      reader.close()
    }
    if (failure) throw failure.reason
    signal.throwIfAborted()
  }

  return {
    now: (): ShownUpload | undefined => shown,
    /** Calls back at each change; what it returns ends that. */
    follow: (tell: () => void) => {
      followers.add(tell)
      return (): void => void followers.delete(tell)
    },
    /** Sends a file. What is under way goes on: nothing is begun beside it. */
    start: (wanted: WantedUpload): void => {
      if (shown?.state === 'running') return
      ending = new AbortController()
      const { signal } = ending
      const { bytes = 0, accepted = 0, refused = 0, waiting = 0 } = wanted.journal ?? {}
      const tally = { accepted, refused, waiting }
      const before = wanted.journal && wanted.journal.run === shown?.journal?.run ? shown.refused : []
      const share = bytes / wanted.file.size
      shown = { ...wanted, state: 'running', share, tally, refused: before, opened: undefined }
      change({})
      const run = async () => {
        const journal = await begin(wanted)
        await journals.whileRunning(journal.run, () => send(wanted, journal, before, signal))
        journals.remove(journal.run)
      }
      run().then(
        () => change({ state: 'done', share: 1, retry: undefined, journal: undefined }),
        (error: unknown) =>
          change({ state: 'stopped', retry: undefined, problem: signal.aborted ? undefined : wordsOf(error) }),
      )
    },
    stop: (): void => ending.abort(),
    stopped: () => journals.stopped(org),
    /** The upload of exactly this file that stopped, if there is one. */
    stoppedOf: async (file: File): Promise<UploadJournal | undefined> => {
      const alike = (await journals.stopped(org)).filter(({ name, size }) => name === file.name && size === file.size)
      if (alike.length === 0) return undefined
      const found = await fingerprint(file)
      return alike.find((journal) => journal.fingerprint === found)
    },
    forget: (run: string): void => journals.remove(run),
  }
}

type PartAnswer = {
  accepted: number
  waiting: number
  refused: { index: number; problems: readonly RecordProblem[] }[]
}

/** Sends a part as one request; in halves where the operator, or a proxy on the way, takes only smaller bodies. */
const sendRecords = async (
  uploads: ReturnType<Weir['of']>,
  records: Record<string, unknown>[],
  idempotencyKey: string,
  options: object,
): Promise<PartAnswer> => {
  if (records.length === 0) return { accepted: 0, waiting: 0, refused: [] }
  try {
    const { accepted, waiting, refused } = await uploads.send(records, { ...options, idempotencyKey })
    return { accepted, waiting: waiting.length, refused }
  } catch (error) {
    if (!(error instanceof WeirError) || error.status !== 413 || records.length === 1) throw error
    const middle = Math.ceil(records.length / 2)
    // One after the other: they may have records with one id.
    const first = await sendRecords(uploads, records.slice(0, middle), `${idempotencyKey}a`, options)
    const second = await sendRecords(uploads, records.slice(middle), `${idempotencyKey}b`, options)
    return {
      accepted: first.accepted + second.accepted,
      waiting: first.waiting + second.waiting,
      refused: [...first.refused, ...second.refused.map((one) => ({ ...one, index: middle + one.index }))],
    }
  }
}

const idOf = (type: TypeReference, record: unknown): string[] => {
  const id = (record as Record<string, unknown> | null)?.[type.id]
  return typeof id === 'string' ? [id] : []
}

export const unreadable = (fault: string): RecordProblem => ({ code: 'unreadable', field: null, message: fault })

const wordsOf = (error: unknown): string => {
  const { message, remedy } = error as { message?: string; remedy?: string }
  return remedy ? `${message}: ${remedy}` : String(message ?? error)
}
