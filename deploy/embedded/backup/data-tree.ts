import { type Dirent, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { hasCode } from '../supervision/process-identity.mjs'

/** The servers that keep something in the data folder, by the names of their processes. */
export const storingParts = ['kafka', 'registry', 'postgres', 'clickhouse'] as const

/** What of a data folder is backed up: not the logs, nor the notes of running processes. */
export const dataEntries = [...storingParts, 'clickhouse-password', 'demo-key'] as const

export type TreeFile = {
  readonly kind: 'file'
  readonly path: string
  readonly mode: number
  readonly size: number
  readonly ino: number
  readonly ctimeMs: number
}
export type TreeEntry =
  | TreeFile
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }

/** Everything to back up in a data folder, each folder before what is in it. What vanishes while we look is left out. */
export const listData = (dataDir: string): TreeEntry[] => {
  const entries: TreeEntry[] = []
  const add = (path: string): void => {
    if (leftOut.has(path)) return
    const entry = ifThere(() => entryAt(dataDir, path))
    if (entry === undefined) return
    entries.push(entry)
    if (entry.kind !== 'folder') return
    const found = ifThere(() => readdirSync(join(dataDir, path), { withFileTypes: true })) ?? []
    for (const name of namesOf(path, found)) add(join(path, name))
  }
  for (const name of dataEntries) add(name)
  return entries
}

// The process id of the Postgres that runs, and what the embedded ClickHouse keeps of requests that are under way.
const leftOut = new Set(['postgres/cluster/postmaster.pid', 'clickhouse/spool'])

const entryAt = (dataDir: string, path: string): TreeEntry | undefined => {
  const stats = lstatSync(join(dataDir, path))
  const mode = stats.mode & 0o7777
  if (stats.isDirectory()) return { kind: 'folder', path, mode }
  if (stats.isSymbolicLink()) return { kind: 'link', path, target: readlinkSync(join(dataDir, path)) }
  if (!stats.isFile()) return undefined
  return { kind: 'file', path, mode, size: stats.size, ino: stats.ino, ctimeMs: stats.ctimeMs }
}

/**
 * Kafka writes the indexes of a log's newest segment through mapped memory, into files of 10 MB that are empty for the most part:
 * 3 GB, were they copied. It makes missing ones anew from the segment when it starts.
 */
const namesOf = (path: string, found: Dirent[]): string[] => {
  const names = found.map(({ name }) => name).sort()
  if (!/^kafka\/log\/[^/]+$/.test(path)) return names
  const newest = names.filter((name) => name.endsWith('.log')).at(-1)
  const stem = newest && basename(newest, '.log')
  return names.filter((name) => name !== `${stem}.index` && name !== `${stem}.timeindex`)
}

const ifThere = <T>(look: () => T): T | undefined => {
  try {
    return look()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
