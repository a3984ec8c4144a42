import { closeSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROTATE_BYTES = 50 * 1024 * 1024
const TAIL_BYTES = 64 * 1024

export const logFileOf = (dataDir: string, name: string): string => join(dataDir, 'logs', `${name}.log`)

/** Opens a log for appending. A log that has grown large is first renamed to `.1`, which replaces the previous `.1`. */
export const openLog = (file: string): number => {
  mkdirSync(dirname(file), { recursive: true })
  if ((sizeOf(file) ?? 0) > ROTATE_BYTES) renameSync(file, `${file}.1`)
  return openSync(file, 'a')
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
