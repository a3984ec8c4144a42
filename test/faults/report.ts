import { type Column, toTable } from '../../services/operator/command/table.js'
import type { LongResult } from './runs/long-run.js'
import type { Result } from './runs/run.js'

export const isGood = ({ findings }: Pick<Result, 'findings'>): boolean => findings.length === 0

/** One run in one line. */
export const lineOf = (result: Result): string =>
  `${result.scenario.padEnd(23)} seed ${String(result.seed).padEnd(4)} ${outcomeOf(result)}, ${result.records} records, ${
    result.interactions
  } interactions, ${result.seconds.toFixed(0)} s`

/** Every run: seed × what happened × outcome. */
export const tableOf = (results: readonly Result[]): string => toTable(columns, results, process.stdout.columns ?? 120)

/** A long run in figures, one a line. */
export const figuresOf = (result: LongResult): string => {
  const killed = Object.entries(result.killed).sort(([a], [b]) => a.localeCompare(b))
  const { findings } = result
  return [
    [
      'kills',
      `${result.kills} in ${result.rounds} rounds: ${killed.map(([name, times]) => `${name} ${times}`).join(', ')}`,
    ],
    [
      'records acknowledged',
      `${result.records}, of which ${result.waits} waited, and ${result.retries} were submitted again`,
    ],
    ['interactions', result.interactions],
    ['imports completed', result.imports],
    ['events on live streams', result.watched],
    ['persons erased', result.erasures],
    ['seconds', result.seconds.toFixed(0)],
    ['findings', findings.length === 0 ? 'none' : `${findings.length}: ${countsOf(findings)}`],
  ]
    .map(([title, figure]) => `${String(title).padEnd(24)}${figure}`)
    .join('\n')
}

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
  return `BAD: ${countsOf(result.findings)}`
}

const countsOf = (findings: Result['findings']): string => {
  const counts = new Map<string, number>()
  for (const { name } of findings) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ')
}
