import { nearest } from '#schemas/derive/nearest-name.js'
import { shorten } from '#schemas/derive/validator.js'
import type { Problem, ProblemCode } from '#schemas/problem.js'

// What questions are made of: named values in a query string or a body, pages, and cursors.

export type Problems = { problems: Problem[] }
export type GivenParameters = Readonly<Record<string, unknown>>
export type ParameterFault = { code: ProblemCode; message: string }
/** Takes a value by its name, or says what is wrong with it. */
export type TakeParameter = (name: string, value: string) => ParameterFault | undefined

/**
 * Reads each parameter by its name. A parameter that is unknown, or has a value that could never match, is refused: an answer with
 * nothing in it would look like good news.
 */
export const readEach = (
  given: GivenParameters,
  known: readonly string[],
  what: string,
  take: TakeParameter,
): Problem[] =>
  Object.entries(given).flatMap(([name, value]): Problem[] => {
    if (!known.includes(name)) return [unknownName(name, known, what)]
    if (typeof value !== 'string') return [{ field: name, code: 'wrong_type', message: `${name} must be one text` }]
    const fault = take(name, value)
    return fault ? [{ field: name, code: fault.code, message: `${name} ${fault.message}` }] : []
  })

export const fault = (code: ProblemCode, message: string): ParameterFault => ({ code, message })

export const unknownName = (name: string, known: readonly string[], what: string): Problem => {
  const close = nearest(name, known)
  const hint = close ? `did you mean ${close}?` : `known are ${known.join(', ')}`
  const message = `there is no ${what} ${JSON.stringify(shorten(name))}`
  return { field: null, code: 'unknown_field', message: known.length > 0 ? `${message}; ${hint}` : `${message} here` }
}

export const oneOf = (value: string, known: readonly string[]): ParameterFault | undefined => {
  if (known.includes(value)) return undefined
  const close = nearest(value, known)
  return fault('not_one_of', close ? `has no such value; did you mean ${close}?` : `must be one of ${known.join(', ')}`)
}

export const defaultRows = 100
const mostRows = 1000

export const takeLimit = (value: string, page: { limit: number }): ParameterFault | undefined => {
  page.limit = /^\d{1,4}$/.test(value) ? Number(value) : 0
  const isRight = page.limit >= 1 && page.limit <= mostRows
  return isRight ? undefined : fault('out_of_range', `must be an integer from 1 to ${mostRows}`)
}

export const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

export const notACursor = fault('bad_format', 'must be the next_cursor of an answer')

/** Where a page ended, as the next one is asked for. */
export const writeCursor = (parts: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(parts)).toString('base64url')

/**
 * The three parts of a cursor; undefined where the text is none. A cursor is written in one way only: any other text was not written
 * by us. A forged one can only choose a place among the caller's own records.
 */
export const readCursorParts = (text: string): [unknown, unknown, unknown] | undefined => {
  const parts = /^[\w-]{1,200}$/.test(text) ? parse(Buffer.from(text, 'base64url').toString()) : undefined
  return Array.isArray(parts) && parts.length === 3 && writeCursor(parts) === text
    ? (parts as [unknown, unknown, unknown])
    : undefined
}

/** A moment in a cursor. */
export const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Math.abs(Number(value)) <= 4e12

/** A place among records in a cursor. */
export const isPlace = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= 0xffff_ffff

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
