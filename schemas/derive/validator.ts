import type { Values } from '../field.js'
import type { Problem, ProblemCode } from '../problem.js'
import type { RecordType } from '../record.js'
import { nearest } from './nearest-name.js'
import { createReader, isFault } from './value-reader.js'

export type Validated = { values: Values } | { id: string | null; problems: Problem[] }
export type Validate = (given: unknown) => Validated

// One record may be wrong in a million places; the uploader needs the first few.
const mostProblems = 20
// Looking for the nearest known name costs far more than all other checks: 190 000 unknown names took seconds.
const mostHints = 3

/** Checks one record as it came out of JSON, and reads its values. Nothing is coerced, nothing is dropped. */
export const createValidator = (type: RecordType): Validate => {
  const readers = Object.entries(type.fields).map(([name, field]) => ({ name, field, read: createReader(field) }))
  const names = Object.keys(type.fields)
  const known = new Set(names)

  const refuse = (given: Record<string, unknown>): Validated => {
    const problems: Problem[] = []
    for (const { name, field, read } of readers) {
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      if (value === undefined || value === null) {
        if (field.required) problems.push(problem(name, 'missing_field', `${name} is required`))
        continue
      }
      const fault = read(value)
      if (isFault(fault)) problems.push(problem(name, fault.code, `${name} ${fault.message}`))
    }
    const unknown = Object.keys(given).filter((name) => !known.has(name))
    const named = unknown.slice(0, mostProblems)
    problems.push(...named.map((name, i) => unknownField(name, type, i < mostHints ? nearest(name, names) : undefined)))
    return { id: givenId(given[type.id]), problems: firstOf(problems, unknown.length - named.length) }
  }

  return (given) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      return { id: null, problems: [problem(null, 'wrong_type', 'a record must be a JSON object')] }
    }
    const source = given as Record<string, unknown>
    const values: Values = {}
    let taken = 0
    for (const { name, field, read } of readers) {
      const value = Object.hasOwn(source, name) ? source[name] : undefined
      if (value !== undefined) taken++
      if (value === undefined || value === null) {
        if (field.required) return refuse(source)
        values[name] = null
        continue
      }
      const result = read(value)
      if (isFault(result)) return refuse(source)
      values[name] = result
    }
    // If not every key of the record was read, one of them is unknown.
    return Object.keys(source).length === taken ? { values } : refuse(source)
  }
}

const problem = (field: string | null, code: ProblemCode, message: string): Problem => ({ field, code, message })

const unknownField = (name: string, type: RecordType, close: string | undefined): Problem => {
  const shown = shorten(name)
  const hint = close ? `; did you mean ${close}?` : ''
  return problem(shown, 'unknown_field', `${shown} is not a field of ${type.type}${hint}`)
}

const firstOf = (problems: Problem[], unnamed: number): Problem[] => {
  const more = problems.length + unnamed - mostProblems
  return more <= 0
    ? problems
    : [...problems.slice(0, mostProblems), problem(null, 'unknown_field', `and ${more} more problems`)]
}

// What an uploader wrote is repeated in answers, logs and stored verdicts, so it is made short, valid, and of one line.
const longestShown = 64
export const shorten = (text: string): string =>
  (text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '\ufffd')

const givenId = (id: unknown): string | null => (typeof id === 'string' ? shorten(id) : null)
