import { placeOf } from '../read/row.js'
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
  /** Refused records, each under its first code. */
  codes: {} as Counts,
  /** All problems, by code and field: `bad_format region`. */
  problems: {} as Counts,
  /** For each of them the first record that it was said of: where, and in which words. */
  examples: {} as Record<string, string>,
  refused_file: null as string | null,
  state: 'stopped' as 'finished' | 'stopped',
})

type Counts = Record<string, number>

/** A journal from before records could wait has no `waiting`. */
type ChunkTally = Pick<Answered, 'records' | 'accepted' | 'refused' | 'waiting' | 'codes' | 'problems'>

export const tallyOf = ({ chunk, refused, waiting }: ChunkAnswer): ChunkTally => {
  const codes: Counts = {}
  const problems: Counts = {}
  for (const each of refused) {
    addTo(codes, each.problems[0]?.code ?? 'unknown', 1)
    for (const problem of each.problems) addTo(problems, keyOf(problem), 1)
  }
  const records = chunk.rows.length
  return { records, accepted: records - refused.length - waiting, refused: refused.length, waiting, codes, problems }
}

export const addTally = (report: FileReport, chunk: ChunkTally): void => {
  report.records += chunk.records
  report.accepted += chunk.accepted
  report.refused += chunk.refused
  report.waiting += chunk.waiting ?? 0
  for (const [code, count] of Object.entries(chunk.codes)) addTo(report.codes, code, count)
  for (const [key, count] of Object.entries(chunk.problems ?? chunk.codes)) addTo(report.problems, key, count)
}

/** Adds a chunk that was answered in this run. */
export const addAnswer = (report: FileReport, answer: ChunkAnswer): void => {
  addTally(report, tallyOf(answer))
  report.sent += answer.sent
  for (const { row, problems } of answer.refused) {
    for (const problem of problems) {
      const key = keyOf(problem)
      if (report.problems[key] !== undefined) report.examples[key] ??= `${placeOf(row)}: ${problem.message}`
    }
  }
}

const keyOf = ({ code, field }: { code: string; field: string | null }): string =>
  field === null ? code : `${code} ${field}`

// Each record may name another field that there is not. Beyond so many, they are counted under their code alone.
const mostKeys = 200

export const addTo = (counts: Counts, key: string, count: number): void => {
  const isNew = counts[key] === undefined && Object.keys(counts).length >= mostKeys
  const kept = isNew ? (key.split(' ', 1)[0] ?? key) : key
  counts[kept] = (counts[kept] ?? 0) + count
}
