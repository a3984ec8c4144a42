import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { system } from './system.js'

/** The process of a part or service, as the launcher noted it. */
export const pidOf = (name: string): number => pidIn(system.dataDir, name)

/** The same, of another system. */
export const pidIn = (dataDir: string, name: string): number =>
  (JSON.parse(readFileSync(join(dataDir, 'run', `${name}.pid`), 'utf8')) as { pid: number }).pid

export const kill = (name: string, signal: NodeJS.Signals = 'SIGKILL'): number => {
  const pid = pidOf(name)
  process.kill(pid, signal)
  return pid
}

/** A process and all that it started: Postgres has one for each connection, and some of them end while we look. */
export const signalTree = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const child of children.split(' ').filter(Boolean)) signalTree(Number(child), signal)
  } catch (error) {
    if (!['ESRCH', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}
