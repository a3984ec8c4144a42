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

/** In words, why a disk did not take what was written; undefined where the error is another one. */
export const refusalOf = (error: unknown): string | undefined => refusals[(error as NodeJS.ErrnoException).code ?? '']

/** Does what is good to have, but not worth stopping for. */
export const unlessDiskRefuses = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
  }
}

/** Tries to write a little into a folder (less than that is no room at all), and tells in words why its disk refuses. */
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
