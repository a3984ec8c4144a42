import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export type Reading = Map<string, { cpuSeconds: number; megabytes: number }>

const ticksPerSecond = 100

/** CPU time spent so far and memory held, by name of part or service (Linux). */
export const readProcesses = (dataDir: string, names: readonly string[]): Reading =>
  new Map(
    names.map((name) => {
      const { pid } = JSON.parse(readFileSync(join(dataDir, 'run', `${name}.pid`), 'utf8')) as { pid: number }
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0)
      // Children that ended count too: Postgres works in them.
      const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
      return [name, { cpuSeconds: ticks / ticksPerSecond, megabytes: Math.round(kilobytes / 1024) }]
    }),
  )

export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** p50, p95, p99 and the longest, in whole milliseconds. */
export const latencies = (values: readonly number[]) => ({
  p50: Math.round(percentile(values, 0.5)),
  p95: Math.round(percentile(values, 0.95)),
  p99: Math.round(percentile(values, 0.99)),
  longest: Math.round(percentile(values, 1)),
})

/** Prints a titled table: names to the left, figures to the right. */
export const printTable = (title: string, head: string[], rows: (string | number)[][]): void => {
  const cells = [head, ...rows.map((row) => row.map(String))]
  const widths = head.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  const line = (row: string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')
  process.stdout.write(`\n${title}\n${cells.map((row) => `  ${line(row)}`).join('\n')}\n`)
}
