import { readdirSync } from 'node:fs'
import { statOf } from './process-tree.js'

// What a test file costs in processor time: its worker, what the worker started, and the system that the worker travels through.
// By the clock, a busy machine makes every file dear.

declare module 'vitest' {
  interface TaskMeta {
    /** Milliseconds that the file's processes computed. */
    processorTime?: number
  }
}

/** What these processes and all that they started have computed so far, in milliseconds; those that ended included. Linux only. */
export const computedBy = (roots: readonly number[]): number => {
  const children = new Map<number, number[]>()
  const ticks = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = statOf(name)
      const [pid, parent] = [Number(name), Number(fields[1])]
      children.set(parent, [...(children.get(parent) ?? []), pid])
      // As user and as system, and the same of children that it has waited for; a hundred a second.
      ticks.set(
        pid,
        [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0),
      )
    } catch {
      // The process ended while we looked.
    }
  }
  const seen = new Set<number>()
  const add = (pid: number): number => {
    if (seen.has(pid)) return 0
    seen.add(pid)
    return (ticks.get(pid) ?? 0) + (children.get(pid) ?? []).reduce((sum, child) => sum + add(child), 0)
  }
  return 10 * roots.reduce((sum, pid) => sum + add(pid), 0)
}

// Files of one worker share their globals, and run one after another; a worker has its system started once.
type Shared = { weirSystem?: { launcherPid: number }; weirBegun?: number }
const shared = globalThis as Shared

const computed = (): number => computedBy([process.pid, ...(shared.weirSystem ? [shared.weirSystem.launcherPid] : [])])

/** To be called with the system that this worker got; what it took to start is no file's cost. */
export const noteSystem = (system: { launcherPid: number }): void => {
  shared.weirSystem = system
  shared.weirBegun = (shared.weirBegun ?? 0) + computedBy([system.launcherPid])
}

/** To be called when a file begins; the function that it returns tells what the file has cost so far, in milliseconds. */
export const beginFile = (): (() => number) => {
  shared.weirBegun = computed()
  // Less than before where a system was stopped and another one started.
  return () => Math.max(0, computed() - (shared.weirBegun ?? 0))
}
