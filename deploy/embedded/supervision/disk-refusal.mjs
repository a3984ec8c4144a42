// @ts-check
// Plain Node, not TypeScript: the set-up uses this file too, before anything is compiled.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** @type {Readonly<Record<string, string>>} */
const refusals = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'it may not be written to',
  EPERM: 'it may not be written to',
  ENOTDIR: 'there is a file in its place',
  EIO: 'the disk has an error',
}

// In words, why a disk refused a write; undefined for any other error.
/** @type {(error: unknown) => string | undefined} */
export const refusalOf = (error) =>
  error instanceof Error && 'code' in error ? refusals[String(error.code)] : undefined

// Does `work`, and goes on without it when the disk refuses: for files that are good to have but not worth stopping for.
/** @param {() => void} work */
export const unlessDiskRefuses = (work) => {
  try {
    work()
  } catch (error) {
    if (refusalOf(error) === undefined) throw error
  }
}

// Writes 1 MiB into a folder and removes it again (a disk with less room is as good as full). Returns why the disk refused.
/** @type {(folder: string) => string | undefined} */
export const tryToWrite = (folder) => {
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
