import { existsSync, renameSync, rmSync } from 'node:fs'
import { chmod, copyFile, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { claimDataFolder } from '../launcher/running-system.js'
import { postgresMajor } from '../servers/postgres.js'
import { BackupRefused } from './backup-refused.js'
import { dataEntries } from './data-tree.js'
import { inWords } from './in-words.js'
import { checksumOf, dataIn, type Manifest, ownVersion, readManifest } from './manifest.js'
import { putInPlace, restoredIn } from './put-in-place.js'

/**
 * Puts a backup into a data folder in which there is nothing, or, with `aside`, in place of what is there. It is put together and
 * checked beside its place; only then is anything moved.
 */
export const restoreBackup = async (
  dataDir: string,
  folder: string,
  options: { aside: boolean; say: (line: string) => void },
): Promise<{ manifest: Manifest; aside: string | undefined }> => {
  const manifest = readManifest(folder)
  await refuseOtherPostgres(manifest)
  const release = claimDataFolder(dataDir)
  try {
    if (existsSync(restoredIn(dataDir))) putInPlace(dataDir)
    const there = dataEntries.filter((name) => existsSync(join(dataDir, name)))
    if (there.length > 0 && !options.aside)
      throw new BackupRefused(
        `${dataDir} holds data already (${there.join(', ')}): name another folder with DATA_DIR, or put it aside with --aside`,
      )
    options.say(`copying and checking ${manifest.files} files, ${inWords(manifest.bytes)}`)
    const unchecked = join(dataDir, 'restoring')
    rmSync(unchecked, { recursive: true, force: true })
    await copyChecked(manifest, dataIn(folder), unchecked)
    renameSync(unchecked, restoredIn(dataDir))
    return { manifest, ...putInPlace(dataDir) }
  } finally {
    release()
  }
}

const refuseOtherPostgres = async ({ postgres, version }: Manifest): Promise<void> => {
  const own = await postgresMajor()
  if (postgres !== own)
    throw new BackupRefused(
      `the backup was made by Weir ${version} with Postgres ${postgres}, and Weir ${ownVersion()} has Postgres ${own}, which does not start on it: restore it with that version`,
    )
}

const copyChecked = async ({ entries }: Manifest, from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true })
  for (const entry of entries) {
    const path = join(to, entry.path)
    if (entry.kind === 'folder') {
      await mkdir(path, { recursive: true })
      await chmod(path, entry.mode | 0o700)
    } else if (entry.kind === 'link') await symlink(entry.target, path)
    else {
      const source = join(from, entry.path)
      if (!existsSync(source)) throw new BackupRefused(`the backup is damaged: ${source} is missing`)
      await copyFile(source, path)
      await chmod(path, entry.mode | 0o600)
      // Of the copy, so that what arrived is checked.
      if ((await checksumOf(path)).sha256 !== entry.sha256)
        throw new BackupRefused(`the backup is damaged: ${source} is not what it was when it was made`)
    }
  }
}
