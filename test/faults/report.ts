import { type Column, toTable } from '../../services/operator/command/table.js'
import type { Result } from './runs/run.js'

export const isGood = ({ findings }: Result): boolean => findings.length === 0

/** One run in one line. */
export const lineOf = (result: Result): string =>
  `${result.scenario.padEnd(23)} seed ${String(result.seed).padEnd(4)} ${outcomeOf(result)}, ${result.records} records, ${
    result.interactions
  } interactions, ${result.seconds.toFixed(0)} s`

/** Every run: seed × what happened × outcome. */
export const tableOf = (results: readonly Result[]): string => toTable(columns, results, process.stdout.columns ?? 120)

const columns: Column<Result>[] = [
  { title: 'run', cell: ({ scenario }) => scenario },
  { title: 'seed', cell: ({ seed }) => String(seed) },
  { title: 'records', cell: ({ records }) => String(records) },
  { title: 'interactions', cell: ({ interactions }) => String(interactions) },
  { title: 'seconds', cell: ({ seconds }) => seconds.toFixed(0) },
  { title: 'late events', cell: ({ lateEvents }) => String(lateEvents) },
  { title: 'outcome', cell: (result) => outcomeOf(result), wraps: true },
]

const outcomeOf = (result: Result): string => {
  if (isGood(result)) return result.lateEvents > 0 ? `ok, ${result.lateEvents} late events to mend` : 'ok'
  const counts = new Map<string, number>()
  for (const { name } of result.findings) counts.set(name, (counts.get(name) ?? 0) + 1)
  return `BAD: ${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`
}
