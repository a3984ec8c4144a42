import { pidIn } from '../process-tree.js'
import { system } from './system.js'

/** The process of a part or service of the shared system, as its launcher noted it. */
export const pidOf = (name: string): number => pidIn(system.dataDir, name)

export const kill = (name: string, signal: NodeJS.Signals = 'SIGKILL'): number => {
  const pid = pidOf(name)
  process.kill(pid, signal)
  return pid
}
