import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * What tells a process from a later one that got the same id: its start time, and the boot it started in.
 * Undefined when there is no such process; a zombie counts as none.
 */
export const identityOf = (pid: number): string | undefined =>
  process.platform === 'linux' ? fromProc(pid) : fromPs(pid)

export const isAlive = (process: { pid: number; identity: string }): boolean =>
  identityOf(process.pid) === process.identity

const fromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in brackets may hold blanks and brackets itself; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, startTime] = [fields[0], fields[19]]
    if (state === 'Z' || state === 'X') return undefined
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${startTime}`
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

const fromPs = (pid: number): string | undefined => {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
  } catch {
    // ps ends with 1 when there is no such process.
    return undefined
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
