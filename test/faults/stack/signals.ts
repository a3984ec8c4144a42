import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessName } from './definitions.js'

/** Signals to a process by its name; one that is just being started again gets none. */
export const createSignals = (dataDir: string) => {
  const pidOf = (name: ProcessName): number | undefined => {
    try {
      return (JSON.parse(readFileSync(join(dataDir, 'run', `${name}.pid`), 'utf8')) as { pid: number }).pid
    } catch {
      return undefined
    }
  }
  const send = (pid: number, signal: NodeJS.Signals): boolean => {
    try {
      return process.kill(pid, signal)
    } catch {
      return false
    }
  }
  return {
    pidOf,
    send: (name: ProcessName, signal: NodeJS.Signals): boolean => {
      const pid = pidOf(name)
      return pid !== undefined && send(pid, signal)
    },
    /** To the process and all that it started: Postgres works in children. */
    sendToAll: (name: ProcessName, signal: NodeJS.Signals): boolean => {
      const pid = pidOf(name)
      if (pid === undefined) return false
      return [pid, ...childrenOf(pid)].map((each) => send(each, signal))[0] ?? false
    },
  }
}

const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)

const parentOf = (pid: string): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in brackets may hold blanks and brackets itself; the fields after it do not.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    // Gone while we looked.
    return undefined
  }
}
