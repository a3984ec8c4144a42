import { plainNumber } from '../../../schemas/csv-rows.js'
import type { RecordType } from '../../../schemas/record.js'
import { isExact } from '../../typescript/src/files/exact.js'
import type { RecordProblem } from '../../typescript/src/index.js'

// The service says what a field must be. Here the value is at hand too, and people look for that in their file.

/** The problems of a record, each with the value that it is about. */
export const explained = (type: RecordType, record: unknown, problems: readonly RecordProblem[]): RecordProblem[] =>
  problems.map((problem) => {
    if (problem.field === null || !isAboutValue.has(problem.code)) return problem
    const value = (record as Record<string, unknown> | null)?.[problem.field]
    return value === undefined || value === null ? problem : { ...problem, message: messageOf(type, problem, value) }
  })

const isAboutValue = new Set(['wrong_type', 'bad_format', 'out_of_range', 'not_one_of'])

const messageOf = (type: RecordType, { field, code, message }: RecordProblem, value: unknown): string => {
  const kind = type.fields[field ?? '']?.kind
  const isText = code === 'wrong_type' && typeof value === 'string'
  if (isText && kind === 'number') return `${field} must be a number: ${shown(value)} ${whyNoNumber(value)}`
  if (isText && kind === 'boolean') return `${field} must be true or false: ${shown(value)} is neither`
  return `${message}; it is ${shown(value)}`
}

const longestShown = 60
const shown = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

const whyNoNumber = (text: string): string => {
  if (plainNumber.test(text) && !isExact(text)) return 'has more digits than a number can keep'
  if (plainNumber.test(text)) return 'is text: in JSON leave the quotes away; with --decimal , write a comma'
  if (/^-?\d{1,3}(,\d{3})+(\.\d+)?$/.test(text)) return 'has a comma, which may be that of thousands or of decimals'
  if (/^-?\d+,\d+$/.test(text) || /^-?\d{1,3}(\.\d{3})+,\d+$/.test(text)) return 'has a decimal comma'
  if (/^-?\d+(\.\d{3})+$/.test(text)) return 'has dots between thousands'
  if (/^-?\d[\d\s'’]*([.,]\d+)?$/.test(text))
    return /^-?[\d.]+$/.test(text) ? 'begins with a zero' : 'is not in one piece'
  return /\d/.test(text) ? 'holds more than digits' : 'is none'
}
