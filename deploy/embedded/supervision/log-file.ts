import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { refusalOf } from './disk-refusal.mjs'
import { CannotSuspend, suspendProcesses } from './suspend.js'

const ROTATE_BYTES = 50 * 1024 * 1024
const KEPT = 3
const TAIL_BYTES = 64 * 1024

export const logFileOf = (dataDir: string, name: string): string => join(dataDir, 'logs', `${name}.log`)

/** Opens a log for appending. One that has grown large is first put aside as `.1`. */
export const openLog = (file: string): number => {
  mkdirSync(dirname(file), { recursive: true })
  if ((sizeOf(file) ?? 0) > ROTATE_BYTES) putAside(file, file)
  return openSync(file, 'a')
}

/** Renames `full` to the log's `.1`, the previous `.1` to `.2`, and so on; the oldest goes. */
const putAside = (file: string, full: string): void => {
  for (let n = KEPT - 1; n > 0; n--) if (existsSync(`${file}.${n}`)) renameSync(`${file}.${n}`, `${file}.${n + 1}`)
  renameSync(full, `${file}.1`)
}

/**
 * Puts aside what a running process has written to its log, once that is large. The process has the file open and writes to its end,
 * so the file is copied and emptied. It stands still, some milliseconds, from the copy of the last lines until the file is empty:
 * not a line is lost. (That stretch has no pause in which this process could start another one that writes there.) On other systems than Linux a log is put aside at a start alone.
 */
export const rotateLog = async (file: string, pid: number, rotateBytes = ROTATE_BYTES): Promise<boolean> => {
  if (process.platform !== 'linux' || (sizeOf(file) ?? 0) <= rotateBytes) return false
  const copy = `${file}.copy`
  try {
    await copyFile(file, copy)
    const suspended = await suspendProcesses([pid])
    try {
      // Where it has ended, another one may be writing by now: the next look finds that one.
      if (!suspended.allStandStill()) return false
      copyRest(file, copy)
      // Put aside first: who is killed between the two leaves lines twice, and none is missing.
      putAside(file, copy)
      truncateSync(file)
      return true
    } finally {
      await suspended.resume()
    }
  } catch (error) {
    if (refusalOf(error) === undefined && !(error instanceof CannotSuspend)) throw error
    return false
  } finally {
    rmSync(copy, { force: true })
  }
}

const copyRest = (file: string, copy: string): void => {
  const [from, to] = [openSync(file, 'r'), openSync(copy, 'a')]
  try {
    const buffer = Buffer.alloc(TAIL_BYTES)
    for (let at = fstatSync(to).size; ; ) {
      const count = readSync(from, buffer, 0, buffer.length, at)
      if (count === 0) return
      at += writeSync(to, buffer, 0, count)
    }
  } finally {
    closeSync(from)
    closeSync(to)
  }
}

/** The last lines of a log, counting only what was written after its first `from` bytes. */
export const tailOf = (file: string, lines = 12, from = 0): string[] => {
  const size = sizeOf(file) ?? 0
  const start = Math.max(from <= size ? from : 0, size - TAIL_BYTES)
  if (size === start) return []
  const buffer = Buffer.alloc(size - start)
  const descriptor = openSync(file, 'r')
  try {
    readSync(descriptor, buffer, 0, buffer.length, start)
  } finally {
    closeSync(descriptor)
  }
  const text = buffer.toString('utf8').split('\n')
  return text.filter((line) => line.trim() !== '').slice(-lines)
}

export const sizeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size
