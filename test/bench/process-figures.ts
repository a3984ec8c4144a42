import { readFileSync } from 'node:fs'
import { pidIn } from '../support/process-tree.js'

export type Reading = Map<string, { cpuSeconds: number; megabytes: number }>

const ticksPerSecond = 100

/** CPU time spent so far and memory held, by name of part or service (Linux). */
export const readProcesses = (dataDir: string, names: readonly string[]): Reading =>
  new Map(
    names.map((name) => {
      const pid = pidIn(dataDir, name)
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0)
      // Children that ended count too: Postgres works in them.
      const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
      return [name, { cpuSeconds: ticks / ticksPerSecond, megabytes: Math.round(kilobytes / 1024) }]
    }),
  )
