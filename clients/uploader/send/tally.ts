import type { Answered } from '../state/journal.js'
import type { ChunkAnswer } from './send-file.js'

/** What became of a file's records, over all runs; `sent` and `skipped` are those of this one. */
export type FileReport = ReturnType<typeof createReport>

export const createReport = (file: string, type: string) => ({
  file,
  type,
  records: 0,
  accepted: 0,
  refused: 0,
  /** Records that waited for what they refer to when they were answered. */
  waiting: 0,
  sent: 0,
  /** Records that were answered in an earlier run. */
  skipped: 0,
  codes: {} as Record<string, number>,
  /** For each code the first record that it was said of: where, and in which words. */
  examples: {} as Record<string, string>,
  refused_file: null as string | null,
  state: 'stopped' as 'finished' | 'stopped',
})

/** `codes` counts records, each under its first code. A journal from before records could wait has no `waiting`. */
type ChunkTally = Pick<Answered, 'records' | 'accepted' | 'refused' | 'waiting' | 'codes'>

export const tallyOf = ({ chunk, refused, waiting }: ChunkAnswer): ChunkTally => {
  const codes: Record<string, number> = {}
  for (const { problems } of refused) {
    const code = problems[0]?.code ?? 'unknown'
    codes[code] = (codes[code] ?? 0) + 1
  }
  const records = chunk.rows.length
  return { records, accepted: records - refused.length - waiting, refused: refused.length, waiting, codes }
}

export const addTally = (report: FileReport, chunk: ChunkTally): void => {
  report.records += chunk.records
  report.accepted += chunk.accepted
  report.refused += chunk.refused
  report.waiting += chunk.waiting ?? 0
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
