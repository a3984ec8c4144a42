import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { system } from './system.js'

/** The process of a part or service, as the launcher noted it. */
export const pidOf = (name: string): number =>
  (JSON.parse(readFileSync(join(system.dataDir, 'run', `${name}.pid`), 'utf8')) as { pid: number }).pid

export const kill = (name: string, signal: NodeJS.Signals = 'SIGKILL'): number => {
  const pid = pidOf(name)
  process.kill(pid, signal)
  return pid
}
