import { spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { unlessDiskRefuses } from './disk-refusal.mjs'
import { logFileOf, openLog } from './log-file.js'
import { identityOf, isAlive, parseWhole } from './process-identity.mjs'

/** How a process is started, and how it is asked to end. */
export type Startable = {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  /** Added to the launcher's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** A command put before `command`, which runs it as another user. */
  readonly runAs?: readonly string[]
  readonly stopSignal?: NodeJS.Signals
}

/** How a process ended, in words for the terminal: "exit code 1", "SIGKILL", "ENOENT". */
export type Ending = { isClean: boolean; reason: string }

export type RunningProcess = {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined
  readonly ended: Promise<Ending>
  /** Asks the process, by its stop signal, to end in good order. */
  end: () => void
  kill: () => void
}

/** In a session of its own, so that Ctrl-C reaches the launcher alone; it writes its log itself, so nothing holds it up. */
export const spawnNoted = (definition: Startable, dataDir: string, { isAgain = false } = {}): RunningProcess => {
  const { name, stopSignal = 'SIGTERM' } = definition
  const log = openLog(logFileOf(dataDir, name))
  const [command = '', ...args] = [
    ...(definition.runAs ?? []),
    // After runAs: a change of user would clear what setpriv sets.
    ...endWithParent(stopSignal),
    definition.command,
    ...definition.args,
  ]
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...definition.env, ...(isAgain && withoutFailPoint) },
  })
  closeSync(log)
  const forget = child.pid === undefined ? () => {} : noteProcess(dataDir, name, child.pid, stopSignal)

  const ended = new Promise<Ending>((resolve) => {
    child.once('error', (error) => resolve({ isClean: false, reason: `${command}: ${error.message}` }))
    child.once('exit', (code, signal) => {
      forget()
      resolve({ isClean: code === 0, reason: signal ?? `exit code ${code}` })
    })
  })
  return { pid: child.pid, ended, end: () => child.kill(stopSignal), kill: () => child.kill('SIGKILL') }
}

// A fail point, by which a test makes a process kill itself, holds for the first life alone.
const withoutFailPoint = { WEIR_FAILPOINT: undefined }

let hasSetpriv: boolean | undefined

// On Linux the kernel ends the children of a killed launcher; elsewhere the next launcher does, which finds their notes.
const endWithParent = (signal: NodeJS.Signals): string[] => {
  hasSetpriv ??= process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true']).status === 0
  return hasSetpriv ? ['setpriv', '--pdeathsig', signal.replace('SIG', '')] : []
}

type NotedProcess = { name: string; pid: number; identity: string; stopSignal: NodeJS.Signals }

/** Notes a running process, for the next launcher should this one be killed. Returns how to remove the note. */
export const noteProcess = (dataDir: string, name: string, pid: number, stopSignal: NodeJS.Signals): (() => void) => {
  const file = join(dataDir, 'run', `${name}.pid`)
  const identity = identityOf(pid)
  if (identity === undefined) return () => {}
  // The process runs already: that the disk is full or read-only is no reason to give it up.
  unlessDiskRefuses(() => {
    mkdirSync(join(dataDir, 'run'), { recursive: true })
    writeFileSync(file, JSON.stringify({ name, pid, identity, stopSignal } satisfies NotedProcess))
  })
  return () => unlessDiskRefuses(() => rmSync(file, { force: true }))
}

const PATIENCE_MS = 10_000
const POLL_MS = 50

/** Ends the processes that an earlier launcher of this data folder left running, and no other. Returns their names. */
export const endOrphans = async (dataDir: string, patienceMs = PATIENCE_MS): Promise<string[]> => {
  const files = readdirSync(join(dataDir, 'run')).filter((name) => name.endsWith('.pid'))
  const ended = await Promise.all(files.map((file) => endOrphan(join(dataDir, 'run', file), patienceMs)))
  return ended.filter((name) => name !== undefined)
}

const endOrphan = async (file: string, patienceMs: number): Promise<string | undefined> => {
  const orphan: NotedProcess | undefined = parseWhole(readFileSync(file, 'utf8'))
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

const send = (orphan: NotedProcess, signal: NodeJS.Signals) => {
  if (isAlive(orphan)) process.kill(orphan.pid, signal)
}

const isGoneWithin = async (orphan: NotedProcess, bound: number): Promise<boolean> => {
  for (const end = Date.now() + bound; Date.now() < end; await delay(POLL_MS)) {
    if (!isAlive(orphan)) return true
  }
  return false
}
