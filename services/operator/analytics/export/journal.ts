import { type FileHandle, open, readFile } from 'node:fs/promises'

// <file>.journal: a line that says what is exported and how it is cut into pieces, a line for each process that worked on it, and one for
// each piece that is on the disk. A piece is noted only after its bytes are on the disk; so what is noted is true, and what is not
// is read again.

/** What is exported. A later run goes on only where all of it is the same. */
export type ExportSubject = {
  name: string
  format: string
  server: string
  org: string | null
  from: string | null
  to: string | null
  /** As it was given: "24h" is another moment a minute later, and the moment of the first run holds. */
  at: string | null
  history: boolean
  with: Readonly<Record<string, string>>
  columns: readonly { name: string; type: string }[]
}

export type ExportHeader = {
  weir_export: 1
  of: ExportSubject
  /** The moment of the records; for a mart, when the export began. */
  at: string
  /** The keys between the pieces. */
  bounds: readonly (readonly string[])[]
}

/** A piece that is on the disk: where in the file it ends, and how many rows it has. */
export type NotedPiece = { end: number; rows: number }
/** A process that worked on the export. */
export type ExportWorker = { pid: number; host: string }

export type ExportPast = {
  header: ExportHeader
  /** The pieces that are whole on the disk. */
  pieces: NotedPiece[]
  /** The last one that worked on it. */
  worker: ExportWorker | undefined
  /** Bytes of the journal up to the last of these pieces: a process that was killed may leave half a line behind them. */
  length: number
}

/** What the journal of a file of this size says; undefined where there is none, or not even its first line is whole. */
export const readExportJournal = async (path: string, size: number): Promise<ExportPast | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return parseExportJournal(text, size)
}

export const parseExportJournal = (text: string, size: number): ExportPast | undefined => {
  const lines = text.split('\n').slice(0, -1)
  const parsed = lines.map(parseLine)
  // Nothing counts from a torn line on, nor from a piece on that the file is too short for.
  const end = parsed.findIndex((line) => line === undefined || ('end' in line && line.end > size))
  const [header, ...kept] = (end === -1 ? parsed : parsed.slice(0, end)) as Line[]
  if (!header || !('weir_export' in header)) return undefined
  return {
    header,
    pieces: kept.filter((line) => 'end' in line),
    worker: parsed.filter((line) => line !== undefined && 'pid' in line).at(-1),
    length: Buffer.byteLength(`${lines.slice(0, kept.length + 1).join('\n')}\n`),
  }
}

type Line = ExportHeader | NotedPiece | ExportWorker

const parseLine = (line: string): Line | undefined => {
  try {
    const parsed = JSON.parse(line) as object | null
    const isKnown =
      typeof parsed === 'object' && parsed && ('weir_export' in parsed || 'end' in parsed || 'pid' in parsed)
    return isKnown ? (parsed as Line) : undefined
  } catch {
    // Half a line, or what a failing disk left: nothing from here on counts.
    return undefined
  }
}

export type ExportJournal = { add: (line: Line) => Promise<void>; close: () => Promise<void> }

/** Opens the journal to write behind its first `length` bytes; what stands behind them is dropped. */
export const openExportJournal = async (path: string, length: number): Promise<ExportJournal> => {
  const handle = await open(path, length === 0 ? 'w' : 'r+')
  await handle.truncate(length)
  let at = length
  return {
    /** Resolves when the line is on the disk. */
    add: async (line) => {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
      await writeAll(handle, bytes, at)
      await handle.datasync()
      at += bytes.length
    },
    close: () => handle.close(),
  }
}

/** Writes all of it: on a full disk, one call may write a part and say so only by its number. */
export const writeAll = async (handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> => {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}
