// @ts-check
// Plain Node, not TypeScript: the set-up uses this file too, before anything is compiled.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

// What tells a process from a later one that got the same id: its start time, and the boot it started in.
// Undefined when there is no such process; a zombie counts as none.
/** @type {(pid: number) => string | undefined} */
export const identityOf = (pid) => (process.platform === 'linux' ? fromProc(pid) : fromPs(pid))

// Whether this very process still runs, not only one with its id.
/** @param {{ pid: number, identity: string }} known */
export const isAlive = ({ pid, identity }) => identityOf(pid) === identity

/** @param {number} pid */
const fromProc = (pid) => {
  const stat = readIfThere(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The name in brackets may hold blanks and brackets itself; the fields after it do not.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startTime] = [fields[0], fields[19]]
  if (state === 'Z' || state === 'X') return undefined
  // Some sandboxes have no boot id; the start time alone must do there.
  return `${readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}/${startTime}`
}

/** @param {number} pid */
const fromPs = (pid) => {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined
  } catch (error) {
    // ps ends with 1 when there is no such process. Where there is no ps, all that can be known is whether the id is in use.
    return hasCode(error, 'ENOENT') && isInUse(pid) ? 'unknown start' : undefined
  }
}

/** @param {number} pid */
const isInUse = (pid) => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}

/** @param {string} file */
export const readIfThere = (file) => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // ESRCH: the process ended between opening and reading.
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return undefined
    throw error
  }
}

// What a file says; undefined for half of it: the machine went down while it was written, and the process that it is about too.
/** @type {(text: string) => any} */
export const parseWhole = (text) => {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** @type {(error: unknown, code: string) => boolean} */
export const hasCode = (error, code) => error instanceof Error && 'code' in error && error.code === code
