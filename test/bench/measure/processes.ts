import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { statOf } from '../../support/process-tree.js'

// What processes and the machine spent, as Linux tells it under /proc.

/** CPU seconds since a process began, and the memory that it holds now, with all that it started. */
export type Spent = { cpuSeconds: number; megabytes: number }

/** Reads several processes at once, each with its descendants: Postgres works in a process for each connection. */
export const readProcesses = (pids: ReadonlyMap<string, number>): Map<string, Spent> => {
  const childrenOf = readChildren()
  return new Map([...pids].map(([name, pid]) => [name, spentBy(treeFrom(pid, childrenOf))]))
}

/** The memory that one process holds now, without what it started; 0 where it is gone. */
export const residentMegabytes = (pid: number): number => {
  const status = orWhenGone(() => readFileSync(`/proc/${pid}/status`, 'utf8'), '')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024)
}

/** The busy CPU seconds of the whole machine since it started, those that its host took from it included. */
export const readMachine = (): number => parseMachine(readFileSync('/proc/stat', 'utf8'))

export const parseMachine = (stat: string): number => {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (stat.split('\n')[0] ?? '')
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + softirq + steal) / ticksPerSecond
}

/** Bytes that a folder takes on disk. Kafka's index files are larger than what they take. */
export const bytesOnDisk = (folder: string): number => {
  let bytes = 0
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += bytesOnDisk(path)
    else bytes += blocksOf(path) * 512
  }
  return bytes
}

// Merged and deleted files go away while we look.
const entriesOf = (folder: string) => orWhenGone(() => readdirSync(folder, { withFileTypes: true }), [])
const blocksOf = (path: string): number => orWhenGone(() => statSync(path).blocks, 0)

// The same on every Linux that Node runs on: USER_HZ.
const ticksPerSecond = 100

const spentBy = (pids: readonly number[]): Spent => {
  let ticks = 0
  let own = 0
  let shared = 0
  for (const pid of pids) {
    const stat = orWhenGone(() => statOf(pid), [])
    const status = orWhenGone(() => readFileSync(`/proc/${pid}/status`, 'utf8'), '')
    if (stat.length === 0 || status === '') continue
    // utime, stime, and those of children that have ended.
    for (const field of [11, 12, 13, 14]) ticks += Number(stat[field])
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    own += kilobytes('RssAnon')
    // Files and shared memory of a family are mostly the same pages: they count once.
    shared = Math.max(shared, kilobytes('RssFile') + kilobytes('RssShmem'))
  }
  return { cpuSeconds: ticks / ticksPerSecond, megabytes: Math.round((own + shared) / 1024) }
}

const readChildren = (): Map<number, number[]> => {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = orWhenGone(() => statOf(name), [])
    if (stat.length === 0) continue
    const parent = Number(stat[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  return children
}

const treeFrom = (pid: number, childrenOf: Map<number, number[]>): number[] => [
  pid,
  ...(childrenOf.get(pid) ?? []).flatMap((child) => treeFrom(child, childrenOf)),
]

const orWhenGone = <T>(read: () => T, otherwise: T): T => {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // EACCES and ESRCH: a process that is not ours, or that ended between two reads.
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return otherwise
    throw error
  }
}
