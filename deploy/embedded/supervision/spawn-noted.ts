import { spawn, spawnSync } from 'node:child_process'
import { closeSync } from 'node:fs'
import { logFileOf, openLog } from './log-file.js'
import { noteProcess } from './orphans.js'
import type { ProcessDefinition } from './process-definition.js'

export type Startable = Pick<ProcessDefinition, 'name' | 'command' | 'args' | 'env' | 'runAs' | 'stopSignal'>

/** How a process ended, in words for the terminal: "exit code 1", "SIGKILL", "ENOENT". */
export type Ending = { isClean: boolean; reason: string }

export type Running = {
  readonly ended: Promise<Ending>
  /** The signal on which it ends in good order. */
  end: () => void
  kill: () => void
}

/**
 * Starts a process of its own session, so that Ctrl-C in the terminal reaches the launcher alone.
 * It writes to its log file directly: neither a slow launcher nor a dead one holds it up.
 */
export const spawnNoted = (definition: Startable, dataDir: string, { isAgain = false } = {}): Running => {
  const { name, stopSignal = 'SIGTERM' } = definition
  const log = openLog(logFileOf(dataDir, name))
  const [command = '', ...args] = [
    ...(definition.runAs ?? []),
    // Innermost: a change of user would clear it.
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
  return { ended, end: () => child.kill(stopSignal), kill: () => child.kill('SIGKILL') }
}

// Who killed itself once for a test comes back to live.
const withoutFailPoint = { WEIR_FAILPOINT: undefined }

let hasSetpriv: boolean | undefined

// On Linux the kernel passes a killed launcher's end on to its children; elsewhere the notes of orphans.ts must do.
const endWithParent = (signal: NodeJS.Signals): string[] => {
  hasSetpriv ??= process.platform === 'linux' && spawnSync('setpriv', ['--pdeathsig', 'TERM', 'true']).status === 0
  return hasSetpriv ? ['setpriv', '--pdeathsig', signal.replace('SIG', '')] : []
}
