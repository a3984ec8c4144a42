import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { unlessDiskRefuses } from './disk-refusal.js'
import { identityOf, isAlive } from './process-identity.js'

const PATIENCE_MS = 10_000
const POLL_MS = 50

type Noted = { name: string; pid: number; identity: string; stopSignal: NodeJS.Signals }

/** Notes a running process in the data folder, so that the next launcher finds it should this one be killed. */
export const noteProcess = (dataDir: string, name: string, pid: number, stopSignal: NodeJS.Signals): (() => void) => {
  const file = join(dataDir, 'run', `${name}.pid`)
  const identity = identityOf(pid)
  if (identity === undefined) return () => {}
  // It runs already: a disk that is full or read-only is no reason to lose hold of it.
  unlessDiskRefuses(() => {
    mkdirSync(join(dataDir, 'run'), { recursive: true })
    writeFileSync(file, JSON.stringify({ name, pid, identity, stopSignal } satisfies Noted))
  })
  return () => unlessDiskRefuses(() => rmSync(file, { force: true }))
}

/** Ends what an earlier launcher of this data folder left running, and nothing else. Returns their names. */
export const endOrphans = async (dataDir: string, patienceMs = PATIENCE_MS): Promise<string[]> => {
  const files = readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.pid'))
  const ended = await Promise.all(files.map((file) => endOrphan(join(dataDir, 'run', file), patienceMs)))
  return ended.filter((name) => name !== undefined)
}

const endOrphan = async (file: string, patienceMs: number): Promise<string | undefined> => {
  const orphan = read(file)
  const wasAlive = orphan !== undefined && isAlive(orphan)
  if (wasAlive) {
    send(orphan, orphan.stopSignal)
    if (!(await isGoneWithin(orphan, patienceMs))) {
      send(orphan, 'SIGKILL')
      await isGoneWithin(orphan, PATIENCE_MS)
    }
  }
  rmSync(file, { force: true })
  return wasAlive ? orphan.name : undefined
}

const read = (file: string): Noted | undefined => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Noted
  } catch (error) {
    // Half-written when the machine went down: then its process went down too.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const send = (orphan: Noted, signal: NodeJS.Signals) => {
  if (isAlive(orphan)) process.kill(orphan.pid, signal)
}

const isGoneWithin = async (orphan: Noted, bound: number): Promise<boolean> => {
  for (const end = Date.now() + bound; Date.now() < end; await delay(POLL_MS)) {
    if (!isAlive(orphan)) return true
  }
  return false
}
