import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessDiskRefuses } from '../supervision/disk-refusal.js'
import { identityOf, isAlive } from '../supervision/process-identity.js'

export class DataFolderInUse extends Error {
  override name = 'DataFolderInUse'
}

/** Claims the data folder for this launcher; throws when a living one has it. Returns how to give it back. */
export const claimDataFolder = (dataDir: string): (() => void) => {
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  mkdirSync(join(dataDir, 'logs'), { recursive: true })
  const claim = join(dataDir, 'run', 'launcher.json')
  const mine = JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) })

  const draft = `${claim}.${process.pid}`
  try {
    writeFileSync(draft, mine)
    while (!link(draft, claim)) {
      const holder = read(claim)
      if (holder === undefined) continue
      const { pid, identity } = JSON.parse(holder) as { pid: number; identity: string }
      if (isAlive({ pid, identity })) {
        throw new DataFolderInUse(`Weir already runs with the data folder ${dataDir} (process ${pid}).`)
      }
      setAside(claim, holder)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return () => {
    unlessDiskRefuses(() => {
      if (read(claim) === mine) rmSync(claim, { force: true })
    })
  }
}

// Two launchers may find the same dead one's claim: whoever moves aside more than that puts it back.
const setAside = (claim: string, stale: string) => {
  const aside = `${claim}.stale.${process.pid}`
  if (!ifExists(() => renameSync(claim, aside))) return
  if (read(aside) !== stale) link(aside, claim)
  rmSync(aside, { force: true })
}

const link = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

const read = (file: string): string | undefined => {
  let text: string | undefined
  ifExists(() => {
    text = readFileSync(file, 'utf8')
  })
  return text
}

const ifExists = (action: () => void): boolean => {
  try {
    action()
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

const hasCode = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code
