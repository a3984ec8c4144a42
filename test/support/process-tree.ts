import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The process of a part or service, as the launcher of this data folder noted it. */
export const pidIn = (dataDir: string, name: string): number =>
  (JSON.parse(readFileSync(join(dataDir, 'run', `${name}.pid`), 'utf8')) as { pid: number }).pid

/**
 * Signals a process and all that it started: Postgres works in a process for each connection. The parent comes first, because
 * a stopped parent starts no further child. False when the parent is gone; children may end while we look. Linux only.
 */
export const signalTree = (pid: number, signal: NodeJS.Signals): boolean => {
  const isThere = trySignal(pid, signal)
  for (const child of childrenOf(pid)) signalTree(child, signal)
  return isThere
}

/** False when there is no such process. */
export const trySignal = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}

const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)

/** What Linux tells of a process, from the field after its name on. The name, in brackets, may hold blanks and brackets itself. */
export const statOf = (pid: number | string): string[] => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

const parentOf = (pid: string): number | undefined => {
  try {
    return Number(statOf(pid)[1])
  } catch {
    // The process ended while we looked.
    return undefined
  }
}
