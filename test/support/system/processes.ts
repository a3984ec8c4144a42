import { onTestFinished } from 'vitest'
import { pidIn } from '../process-tree.js'
import { system } from './system.js'

/** The process of a part or service of the shared system, as its launcher noted it. */
export const pidOf = (name: string): number => pidIn(system.dataDir, name)

export const kill = (name: string, signal: NodeJS.Signals = 'SIGKILL'): number => {
  const pid = pidOf(name)
  process.kill(pid, signal)
  // A case that fails or runs out of time must not leave a process asleep for the journeys after it.
  if (signal === 'SIGSTOP') onTestFinished(() => wake(pid))
  return pid
}

const wake = (pid: number): void => {
  try {
    process.kill(pid, 'SIGCONT')
  } catch (error) {
    // It was killed meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
