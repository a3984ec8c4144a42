import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const refusals: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'it may not be written to',
  EPERM: 'it may not be written to',
  ENOTDIR: 'there is a file in its place',
  EIO: 'the disk has an error',
}

/** In words, why a disk refused a write; undefined for any other error. */
export const refusalOf = (error: unknown): string | undefined => refusals[(error as NodeJS.ErrnoException).code ?? '']

/** Does `work`, and goes on without it when the disk refuses: for files that are good to have but not worth stopping for. */
export const unlessDiskRefuses = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
  }
}

/**
 * Writes 1 MiB into a folder and removes it again (a disk with less room is as good as full). Returns in words why the disk
 * refused.
 */
export const tryToWrite = (folder: string): string | undefined => {
  const file = join(folder, `tried.${process.pid}`)
  try {
    writeFileSync(file, Buffer.alloc(1024 * 1024))
    return undefined
  } catch (error) {
    return refusalOf(error)
  } finally {
    unlessDiskRefuses(() => rmSync(file, { force: true }))
  }
}
