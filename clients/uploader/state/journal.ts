import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FilePlace } from '../read/row.js'
import type { Fingerprint } from './fingerprint.js'

// <file>.weir-journal: a line that says what is uploaded where, then a line for each chunk that was answered, then one for the
// end. A line is written when its chunk is answered and the chunk's refused records are on the disk; so what is written is true,
// and what is not is sent again, with the same Idempotency-Key.

/**
 * Where chunks end. Fixed for a file when its upload begins: a chunk that is sent again has to be the same one. Where there is a
 * `first`, that many records are in the first chunk, and in each other one at the most as many as there are before it.
 */
export type ChunkSize = { records: number; bytes: number; first?: number }

/** What is uploaded, where to, and how. */
export type Header = {
  weir_journal: 1
  server: string
  /** That of the first run: the keys of all chunks are made with it, also when the API key is another one by now. */
  key_id: string
  type: string
  mapping: string
  fingerprint: Fingerprint
  /** Another one at each --restart: what is sent anew is decided anew. */
  attempt: string
  /** How long records wait for what they refer to; absent where they are refused at once. */
  wait?: string
  chunk_size: ChunkSize
}

/** A chunk that was answered: the rows from byte `from` to byte `to`, which begin at `line`. */
export type Answered = {
  from: number
  to: number
  line: number
  next_line: number
  records: number
  accepted: number
  refused: number
  waiting?: number
  codes: Readonly<Record<string, number>>
  /** All problems, by code and field. Journals from before they were counted have none. */
  problems?: Readonly<Record<string, number>>
  /** How long the file of refused records is with those of this chunk, and the SHA-256 of it. */
  refused_bytes: number
  refused_sha256: string
}

export type Past = { header: Header; answered: Answered[]; isFinished: boolean }

export type Journal = ReturnType<typeof createJournal>

export const end = { end: true } as const

export const journalOf = (file: string): string => `${file}.weir-journal`

/** What the journal of a file says; undefined where there is none, or nothing in it is whole. */
export const readJournal = async (file: string): Promise<(Past & { length: number }) | undefined> => {
  const text = await readFile(journalOf(file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return parseJournal(text)
}

/** `length` is that of the whole lines: a process that was killed, or a full disk, may leave a part of a line behind them. */
const parseJournal = (text: string): (Past & { length: number }) | undefined => {
  const [first, ...lines] = text.split('\n').slice(0, -1).map(parseLine)
  if (!isHeader(first)) return undefined
  const whole = lines.indexOf(undefined)
  const kept = (whole === -1 ? lines : lines.slice(0, whole)) as object[]
  const length = text
    .split('\n')
    .slice(0, kept.length + 1)
    .reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)
  const answered = kept.filter((line): line is Answered => 'from' in line)
  return { header: first, answered, isFinished: kept.some((line) => 'end' in line), length }
}

/** Opens the journal to go on behind its whole lines. */
export const continueJournal = async (file: string, length: number): Promise<Journal> => {
  const handle = await open(journalOf(file), 'r+')
  await handle.truncate(length)
  return createJournal(handle, length)
}

/** Begins a new journal; whatever it said before is forgotten. */
export const beginJournal = async (file: string, header: Header): Promise<Journal> => {
  await rm(journalOf(file), { force: true })
  const handle = await open(journalOf(file), 'wx')
  const journal = createJournal(handle, 0)
  await journal.add(header)
  await syncFolder(dirname(journalOf(file)))
  return journal
}

const createJournal = (handle: FileHandle, length: number) => {
  let at = length
  return {
    /** Resolves when the line is on the disk. */
    add: async (line: Header | Answered | typeof end): Promise<void> => {
      const text = Buffer.from(`${JSON.stringify(line)}\n`)
      await writeAll(handle, text, at)
      await handle.datasync()
      at += text.length
    },
    close: () => handle.close(),
  }
}

/** Writes all of it: on a full disk, one call may write a part and say so only by its number. */
export const writeAll = async (handle: FileHandle, bytes: Buffer, at: number): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}

/** A new file's name is on the disk only when its folder is. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder).catch(() => undefined)
  // Some systems do not let a folder be opened or synced; there the file system sees to it.
  await handle?.sync().catch(() => {})
  await handle?.close()
}

/** From where on nothing was answered yet; chunks behind it may have been. */
export const placeAfter = (answered: readonly Answered[]): FilePlace | undefined => {
  const byStart = new Map(answered.map((chunk) => [chunk.from, chunk]))
  let place: FilePlace | undefined
  for (let chunk = byStart.get(0); chunk; chunk = byStart.get(chunk.to))
    place = { offset: chunk.to, line: chunk.next_line, records: (place?.records ?? 0) + chunk.records }
  return place
}

const parseLine = (line: string): object | undefined => {
  try {
    const parsed = JSON.parse(line) as unknown
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined
  } catch {
    // Half a line, and so the last one.
    return undefined
  }
}

const isHeader = (line: object | undefined): line is Header =>
  line !== undefined && 'weir_journal' in line && line.weir_journal === 1
