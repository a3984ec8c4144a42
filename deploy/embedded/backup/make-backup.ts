import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { mkdir, statfs } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { backupClaimOf, claimOf } from '../launcher/data-folder.mjs'
import { claimDataFolder } from '../launcher/running-system.js'
import { claimFile, livingHolderOf } from '../supervision/claim-file.mjs'
import { isAlive, parseWhole, readIfThere } from '../supervision/process-identity.mjs'
import { CannotSuspend, suspendProcesses } from '../supervision/suspend.js'
import { BackupRefused } from './backup-refused.js'
import { createDataCopy } from './copy-data.js'
import { listData, storingParts, type TreeEntry } from './data-tree.js'
import { inWords } from './in-words.js'
import { dataIn, describe, type Manifest, writeManifest } from './manifest.js'

type Say = (line: string) => void

/** Copies a data folder as it was at one moment. A system that runs stands still for that moment, and loses nothing by it. */
export const makeBackup = async (dataDir: string, given: string, say: Say): Promise<Manifest> => {
  const folder = resolve(given)
  refuseFolder(dataDir, folder)
  const { isRunning, release } = claim(dataDir)
  try {
    await refuseFullDisk(dataDir, folder)
    await mkdir(dataIn(folder), { recursive: true, mode: 0o700 })
    const taken = await (isRunning ? copyRunning : copyStopped)(dataDir, folder, say)
    say('reading it back and noting the checksums')
    const manifest = await describe(folder, taken.entries, taken)
    // On the disk before it counts as a backup.
    spawnSync('sync')
    await writeManifest(folder, manifest)
    return manifest
  } finally {
    release()
  }
}

const refuseFolder = (dataDir: string, folder: string): void => {
  if (!relative(dataDir, folder).startsWith('..'))
    throw new BackupRefused(`${folder} lies in the data folder, and would be lost with it: choose a folder elsewhere`)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new BackupRefused(`${folder} is not empty: choose a new folder for each backup`)
  const missing = storingParts.filter((part) => !existsSync(join(dataDir, part)))
  if (missing.length > 0)
    throw new BackupRefused(
      `${dataDir} has no data of ${missing.join(', ')}: this command is for systems that run all of their parts themselves; for parts of your own see docs/backup.md`,
    )
}

/** One backup at a time; and of a system that does not run, none that starts meanwhile. */
const claim = (dataDir: string): { isRunning: boolean; release: () => void } => {
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  const backup = claimFile(backupClaimOf(dataDir))
  if (backup.holder) throw new BackupRefused(`another backup of ${dataDir} is under way (process ${backup.holder.pid})`)
  if (livingHolderOf(claimOf(dataDir))) return { isRunning: true, release: backup.release }
  const release = claimDataFolder(dataDir)
  return {
    isRunning: false,
    release: () => {
      release()
      backup.release()
    },
  }
}

const refuseFullDisk = async (dataDir: string, folder: string): Promise<void> => {
  const needed = sizeOf(listData(dataDir))
  const nearest = (path: string): string => (existsSync(path) ? path : nearest(resolve(path, '..')))
  const { bavail, bsize } = await statfs(nearest(folder))
  if (bavail * bsize < needed * 1.1)
    throw new BackupRefused(
      `${folder} has room for ${inWords(bavail * bsize)}, and ${inWords(needed)} are to be copied`,
    )
}

const sizeOf = (entries: readonly TreeEntry[]): number =>
  entries.reduce((sum, entry) => sum + (entry.kind === 'file' ? entry.size : 0), 0)

type Taken = Pick<Manifest, 'moment' | 'paused_ms'> & { entries: TreeEntry[] }

const copyStopped = async (dataDir: string, folder: string, say: Say): Promise<Taken> => {
  const left = storingParts.filter((name) => livingPart(dataDir, name) !== undefined)
  if (left.length > 0)
    throw new BackupRefused(`an earlier start was killed and left ${left.join(', ')} running: npm start ends them`)
  say('the system does not run: copying its data')
  const moment = new Date().toISOString()
  const { entries } = await createDataCopy(dataDir, dataIn(folder)).round()
  return { moment, paused_ms: 0, entries }
}

const MOST_ROUNDS = 6
const LITTLE = 32 << 20
/** Longer than this, sessions between services and servers would end. */
const LONGEST_PAUSE_MS = 8_000
const ATTEMPTS = 3

const copyRunning = async (dataDir: string, folder: string, say: Say): Promise<Taken> => {
  // Elsewhere it cannot be seen whether a process really stands still.
  if (process.platform !== 'linux')
    throw new BackupRefused('a system that runs can be backed up on Linux only: stop it (Ctrl-C), and back it up then')
  const copy = createDataCopy(dataDir, dataIn(folder))
  for (let attempt = 1; ; attempt++) {
    await copyAhead(copy, say)
    const pids = partProcesses(dataDir)
    const begun = Date.now()
    try {
      const taken = await copyStandingStill(copy, pids)
      say(`the servers stood still for ${taken.paused_ms} ms, in which ${inWords(taken.bytes)} were copied`)
      return taken
    } catch (error) {
      if (!(error instanceof CannotSuspend)) throw error
      const after = `after ${Date.now() - begun} ms`
      if (attempt === ATTEMPTS)
        throw new BackupRefused(
          `${error.message}, ${after}: the system is too busy. Back it up when it is calmer, or stop it (Ctrl-C) and back it up then`,
        )
      say(`${error.message}, ${after}: trying again`)
    }
  }
}

/** While the system runs, until little changes between two rounds, or no less than before. */
const copyAhead = async (copy: ReturnType<typeof createDataCopy>, say: Say): Promise<void> => {
  let last = Number.POSITIVE_INFINITY
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const { bytes } = await copy.round()
    say(`copied ${inWords(bytes)} while the system runs`)
    if (bytes < LITTLE || bytes > last * 0.7) return
    last = bytes
  }
}

const copyStandingStill = async (copy: ReturnType<typeof createDataCopy>, pids: readonly number[]) => {
  const begun = Date.now()
  const suspended = await suspendProcesses(pids)
  const moment = new Date().toISOString()
  try {
    const mayGoOn = () => {
      if (Date.now() - begun > LONGEST_PAUSE_MS)
        throw new CannotSuspend('more has changed than can be copied while the servers stand still')
    }
    const { entries, bytes } = await copy.round(mayGoOn)
    // One that was killed, or let go on by somebody else, may have written meanwhile.
    if (!suspended.allStandStill()) throw new CannotSuspend('a server did not stand still until the end')
    await suspended.resume()
    return { moment, paused_ms: Date.now() - begun, entries, bytes }
  } catch (error) {
    await suspended.resume()
    throw error
  }
}

/** The servers that write to the data folder, by the notes that the launcher keeps of them. All of them have to be there. */
const partProcesses = (dataDir: string): number[] =>
  storingParts.map((name) => {
    const pid = livingPart(dataDir, name)
    if (pid === undefined)
      throw new BackupRefused(
        `${name} does not run as a part of this system: wait until it is up, or, for parts of your own, see docs/backup.md`,
      )
    return pid
  })

const livingPart = (dataDir: string, name: string): number | undefined => {
  const noted = parseWhole(readIfThere(join(dataDir, 'run', `${name}.pid`)) ?? '')
  return noted !== undefined && isAlive(noted) ? noted.pid : undefined
}
