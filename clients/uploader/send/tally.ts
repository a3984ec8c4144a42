import type { ChunkAnswer } from './send-file.js'

/** What became of a file's records, over all runs; `sent` and `skipped` are those of this one. */
export type FileReport = {
  file: string
  type: string
  records: number
  accepted: number
  refused: number
  /** Records that wait for what they refer to. */
  waiting: number
  sent: number
  /** Records that were answered in an earlier run. */
  skipped: number
  codes: Record<string, number>
  /** For each code the first record that it was said of: where, and in which words. */
  examples: Record<string, string>
  refused_file: string | null
  state: 'finished' | 'stopped'
}

export const createReport = (file: string, type: string): FileReport => ({
  file,
  type,
  records: 0,
  accepted: 0,
  refused: 0,
  waiting: 0,
  sent: 0,
  skipped: 0,
  codes: {},
  examples: {},
  refused_file: null,
  state: 'stopped',
})

/** What was answered for some records. `codes` counts records, each under its first code. */
export type ChunkTally = { records: number; accepted: number; refused: number; codes: Readonly<Record<string, number>> }

export const tallyOf = ({ chunk, refused }: ChunkAnswer): ChunkTally => {
  const codes: Record<string, number> = {}
  for (const { problems } of refused) {
    const code = problems[0]?.code ?? 'unknown'
    codes[code] = (codes[code] ?? 0) + 1
  }
  return { records: chunk.rows.length, accepted: chunk.rows.length - refused.length, refused: refused.length, codes }
}

export const addTally = (report: FileReport, chunk: ChunkTally): void => {
  report.records += chunk.records
  report.accepted += chunk.accepted
  report.refused += chunk.refused
  for (const [code, count] of Object.entries(chunk.codes)) report.codes[code] = (report.codes[code] ?? 0) + count
}

/** Adds a chunk that was answered in this run. */
export const addAnswer = (report: FileReport, answer: ChunkAnswer): void => {
  addTally(report, tallyOf(answer))
  report.sent += answer.sent
  for (const { row, problems } of answer.refused) {
    const [first] = problems
    if (first) report.examples[first.code] ??= `line ${row.line}: ${first.message}`
  }
}
