import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished } from 'vitest'
import { eventually } from '../eventually.js'
import { pidIn, statOf } from '../process-tree.js'
import { isDeep } from '../sized.js'
import { system } from './system.js'

/** The process of a part or service of the shared system, as its launcher noted it. */
export const pidOf = (name: string): number => pidIn(system.dataDir, name)

/** How many milliseconds a process has computed since it began, in steps of ten. Linux only. */
export const computed = (pid: number): number => {
  const fields = statOf(pid)
  // Ticks as user and as system, a hundred a second.
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

export const kill = (name: string, signal: NodeJS.Signals = 'SIGKILL'): number => {
  const pid = pidOf(name)
  process.kill(pid, signal)
  // A case that fails or runs out of time must not leave a process asleep for the journeys after it.
  if (signal === 'SIGSTOP') onTestFinished(() => wake(pid))
  return pid
}

/**
 * Kills the edge, integrity and Kafka in turn, with a pause after each that is back, in milliseconds: each once, and in the deep
 * tests again and again until it is over.
 */
export const killServicesUntil = async (isOver: () => boolean, pause = 2_000): Promise<void> => {
  const names = ['edge', 'integrity', 'kafka'] as const
  for (let turn = 0; turn < names.length || (isDeep && !isOver()); turn++) {
    const name = names[turn % names.length] ?? 'edge'
    const killed = kill(name)
    await eventually(() => expect(pidOf(name)).not.toBe(killed), 60_000)
    await eventually(async () => expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200), 60_000)
    await wait(pause)
  }
}

const wake = (pid: number): void => {
  try {
    process.kill(pid, 'SIGCONT')
  } catch (error) {
    // It was killed meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
