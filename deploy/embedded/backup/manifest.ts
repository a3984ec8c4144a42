import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { packageRoot } from '#platform/process/package-root.js'
import { BackupRefused } from './backup-refused.js'
import type { TreeEntry } from './data-tree.js'

/** The form of a backup that this version writes, and the newest that it reads. */
const FORMAT = 1

/** What is to be found in a backup. */
export type ManifestEntry =
  | {
      readonly kind: 'file'
      readonly path: string
      readonly mode: number
      readonly size: number
      readonly sha256: string
    }
  | Exclude<TreeEntry, { kind: 'file' }>

/** What a backup is: written last, so that a folder without it is none. */
export type Manifest = {
  readonly format: number
  /** The Weir that made it. */
  readonly version: string
  /** Everything that was acknowledged before this moment is in it. */
  readonly moment: string
  /** For how long the servers stood still. */
  readonly paused_ms: number
  /** Postgres starts only on data of its own major version. */
  readonly postgres: string
  readonly files: number
  readonly bytes: number
  readonly entries: readonly ManifestEntry[]
}

export const manifestFile = (folder: string): string => join(folder, 'manifest.json')
/** Where in a backup the data folder is. */
export const dataIn = (folder: string): string => join(folder, 'data')

export const ownVersion = (): string => JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version

/** The major version that made a data folder's Postgres. */
export const postgresOf = (dataDir: string): string =>
  readFileSync(join(dataDir, 'postgres/cluster/PG_VERSION'), 'utf8').trim()

/** Reads every file of a backup back and notes what it has. */
export const describe = async (
  folder: string,
  entries: readonly TreeEntry[],
  about: Pick<Manifest, 'moment' | 'paused_ms'>,
): Promise<Manifest> => {
  const described: ManifestEntry[] = []
  let [files, bytes] = [0, 0]
  for (const entry of entries) {
    if (entry.kind !== 'file') described.push(entry)
    else {
      const { kind, path, mode } = entry
      const { sha256, size } = await checksumOf(join(dataIn(folder), path))
      described.push({ kind, path, mode, size, sha256 })
      files += 1
      bytes += size
    }
  }
  const postgres = postgresOf(dataIn(folder))
  return { format: FORMAT, version: ownVersion(), ...about, postgres, files, bytes, entries: described }
}

/** Renamed when it is whole. */
export const writeManifest = async (folder: string, manifest: Manifest): Promise<void> => {
  const { entries, ...about } = manifest
  const lines = entries.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n')
  const text = `${JSON.stringify(about, null, 2).slice(0, -2)},\n  "entries": [\n${lines}\n  ]\n}\n`
  await writeFile(`${manifestFile(folder)}.next`, text, { mode: 0o600 })
  await rename(`${manifestFile(folder)}.next`, manifestFile(folder))
}

/** Throws, in one line, where the folder is no whole backup, or one that this version does not know. */
export const readManifest = (folder: string): Manifest => {
  if (!existsSync(manifestFile(folder)))
    throw new BackupRefused(
      `${folder} has no manifest.json, which is written last: it is no backup, or one that was interrupted`,
    )
  const manifest = JSON.parse(readFileSync(manifestFile(folder), 'utf8')) as Manifest
  if (manifest.format !== FORMAT)
    throw new BackupRefused(
      `${folder} was made by Weir ${manifest.version} in a form that Weir ${ownVersion()} does not know: restore it with that version`,
    )
  return manifest
}

export const checksumOf = async (file: string): Promise<{ sha256: string; size: number }> => {
  const hash = createHash('sha256')
  let size = 0
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), async (chunks) => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) {
      size += chunk.length
      hash.update(chunk)
    }
  })
  return { sha256: hash.digest('hex'), size }
}
