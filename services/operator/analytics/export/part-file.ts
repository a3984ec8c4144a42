import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { createLineCounter, type ExportFormat, packer } from './format.js'
import { type NotedPiece, writeAll } from './journal.js'
import { footerOf, type PieceFooter, readPieceFooter } from './parquet-footer.js'

/** The file while it is being written, under the name that it has until it is complete. */
export type PartFile = Awaited<ReturnType<typeof openPartFile>>

/** Opens it to go on behind these pieces; what stands behind them is dropped. */
export const openPartFile = async (path: string, format: ExportFormat, noted: readonly NotedPiece[]) => {
  const end = noted.at(-1)?.end ?? 0
  const handle = await open(path, end === 0 ? 'w+' : 'r+')
  await handle.truncate(end)
  const parquet = format.first === 'Parquet' ? createParquetPieces(handle) : undefined
  let at = 0
  for (const piece of noted) {
    await parquet?.add(at, piece.end)
    at = piece.end
  }

  /** Appends a piece; resolves with its place and its rows when it is on the disk. A piece that breaks off is dropped by the next one. */
  const append = async (answer: Readable, isFirst: boolean): Promise<NotedPiece> => {
    const counter = parquet ? undefined : createLineCounter(format)
    const counted = counter ? answer.pipe(counter.stream) : answer
    const written = format.isPacked ? counted.pipe(packer()) : counted
    // `pipe` does not hand on errors.
    for (const stream of new Set([answer, counted])) stream.on('error', (error) => written.destroy(error))
    let to = at
    for await (const block of written as AsyncIterable<Buffer>) {
      await writeAll(handle, block, to)
      to += block.length
    }
    await handle.truncate(to)
    await handle.datasync()
    const rows = parquet ? await parquet.add(at, to) : rowsIn(counter?.lines() ?? 0, isFirst, format)
    at = to
    return { end: to, rows }
  }

  /** Makes the pieces one file, under its own name. */
  const complete = async (file: string, about: Readonly<Record<string, string>>): Promise<number> => {
    const footer = parquet?.footer(about) ?? Buffer.alloc(0)
    await writeAll(handle, footer, at)
    await handle.truncate(at + footer.length)
    await handle.sync()
    await rename(path, file)
    await syncFolder(dirname(file))
    return at + footer.length
  }
  return { append, complete, close: () => handle.close() }
}

/** The first piece begins with the names of the columns, where the format has them. */
const rowsIn = (lines: number, isFirst: boolean, { first, others }: ExportFormat): number =>
  isFirst && first !== others ? lines - 1 : lines

const createParquetPieces = (handle: FileHandle) => {
  const pieces: PieceFooter[] = []
  const readAt = async (position: number, length: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
    if (bytesRead < length) throw new Error('the file is shorter than its journal says')
    return buffer
  }
  return {
    /** How many rows the piece has. */
    add: async (from: number, to: number): Promise<number> => {
      const piece = await readPieceFooter(readAt, from, to)
      if (pieces[0] && !pieces[0].schema.equals(piece.schema))
        throw new Error('the columns have changed since the export began; --restart begins anew')
      pieces.push(piece)
      return Number(piece.rows)
    },
    footer: (about: Readonly<Record<string, string>>): Buffer => footerOf(pieces, about),
  }
}

export const sizeOf = async (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    },
  )

export const removeFile = (path: string): Promise<void> => rm(path, { force: true })

/** A file's name is on the disk only when its folder is. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder).catch(() => undefined)
  // Some systems do not let a folder be opened or synced; there the file system sees to it.
  await handle?.sync().catch(() => {})
  await handle?.close()
}
