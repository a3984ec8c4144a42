import { placeOf } from '../read/row.js'
import { addTo, type FileReport } from '../send/tally.js'
import type { RefusedRow } from '../state/refused-file.js'
import { count, duration } from './progress.js'

export type Summary = ReturnType<typeof summaryOf>

/** What `--json` prints. Counts are over all runs of the files; `sent` and `skipped` are of this one. */
export const summaryOf = (reports: readonly FileReport[], seconds: number) => {
  const sum = (name: 'accepted' | 'refused' | 'waiting' | 'sent' | 'skipped') =>
    reports.reduce((total, report) => total + report[name], 0)
  const codes: Record<string, number> = {}
  const problems: Record<string, number> = {}
  for (const report of reports) {
    for (const [code, number] of Object.entries(report.codes)) addTo(codes, code, number)
    for (const [key, number] of Object.entries(report.problems)) addTo(problems, key, number)
  }
  return {
    accepted: sum('accepted'),
    refused: sum('refused'),
    waiting: sum('waiting'),
    sent: sum('sent'),
    skipped: sum('skipped'),
    seconds,
    codes,
    problems,
    files: reports.map(({ sent, skipped, codes, problems, examples, ...file }) => file),
  }
}

/** The same for people: a line for each file, then why records were refused. `did` is what was done with the records. */
export const tableOf = (reports: readonly FileReport[], summary: Summary, did: string): string => {
  const { skipped, seconds, problems } = summary
  const done = reports.reduce((sum, { records }) => sum + records, 0) - skipped
  const hasWaits = summary.waiting > 0
  const files = [
    ['file', 'records', 'accepted', 'refused', ...(hasWaits ? ['waiting'] : []), ''],
    ...reports.map(({ file, records, accepted, refused, waiting, refused_file, state }) => [
      file,
      count(records),
      count(accepted),
      count(refused),
      ...(hasWaits ? [count(waiting)] : []),
      refused_file !== null ? `refused: ${refused_file}` : state === 'stopped' ? 'not finished' : '',
    ]),
  ]
  const reasons = Object.entries(problems)
    .sort(([, a], [, b]) => b - a)
    .map(([key, number]) => [key, count(number), exampleOf(reports, key)])
  const rate = seconds > 0 ? `, ${count(Math.round(done / seconds))} a second` : ''
  const earlier = skipped > 0 ? `; ${count(skipped)} were answered in an earlier run` : ''
  return [
    ...align(files, hasWaits ? [1, 2, 3, 4] : [1, 2, 3]),
    ...(reasons.length > 0
      ? ['', ...align([['refused for', 'problems', 'the first of this run'], ...reasons], [1])]
      : []),
    '',
    `${count(done)} records ${did} in ${duration(seconds)}${rate}${earlier}`,
  ].join('\n')
}

const exampleOf = (reports: readonly FileReport[], key: string): string => {
  const found = reports.find(({ examples }) => examples[key] !== undefined)
  if (!found) return ''
  return reports.length === 1 ? (found.examples[key] ?? '') : `${found.file}, ${found.examples[key]}`
}

/** A refused record beside its reason, for a trial. */
export const showRefused = ({ row, problems }: RefusedRow, columns: readonly string[] | undefined): string => {
  const given =
    columns && Array.isArray(row.given)
      ? Object.fromEntries(row.given.map((cell, i) => [columns[i] ?? `cell ${i + 1}`, cell]))
      : row.given
  const reasons = problems.map(({ code, message }) => `${code}: ${message}`)
  return `${placeOf(row)}: ${reasons.join('; ')}\n  ${JSON.stringify(given).slice(0, 1000)}`
}

const align = (rows: readonly (readonly string[])[], toTheRight: readonly number[]): string[] => {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, i) => (toTheRight.includes(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
