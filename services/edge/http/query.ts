import type { FastifyReply, FastifyRequest } from 'fastify'
import { nearest } from '#schemas/derive/nearest-name.js'
import { shorten } from '#schemas/derive/validator.js'
import type { Problem, ProblemCode } from '#schemas/problem.js'
import { type RequestError, sendError } from './request-error.js'

/** Takes the value of one parameter, and says what is wrong with it, if anything is. */
export type TakeParameter = (value: string) => { code: ProblemCode; message: string } | undefined

/**
 * Reads each parameter of a query string by its name. One that is unknown, or given twice, is refused: an answer to another question
 * would look like the answer to this one.
 */
export const readQuery = (request: FastifyRequest, known: Readonly<Record<string, TakeParameter>>): Problem[] =>
  Object.entries(request.query as Record<string, unknown>).flatMap(([name, value]): Problem[] => {
    const take = Object.hasOwn(known, name) ? known[name] : undefined
    if (!take) return [unknown(name, Object.keys(known))]
    if (typeof value !== 'string')
      return [{ field: name, code: 'wrong_type', message: `${name} may be given once only` }]
    const fault = take(value)
    return fault ? [{ field: name, code: fault.code, message: `${name} ${fault.message}` }] : []
  })

const unknown = (name: string, known: readonly string[]): Problem => {
  const close = nearest(name, known)
  const hint = close ? `did you mean ${close}?` : `known are ${known.join(', ')}`
  const message = `there is no query parameter ${JSON.stringify(shorten(name))}`
  return { field: null, code: 'unknown_field', message: known.length > 0 ? `${message}; ${hint}` : `${message} here` }
}

/** For routes that take no parameters: why this request is refused, if it has some. */
export const noParametersHere = (request: FastifyRequest): RequestError | undefined => {
  const problems = readQuery(request, {})
  return problems.length > 0 ? badQuery(problems) : undefined
}

export const refuseQuery = (reply: FastifyReply, problems: Problem[]): FastifyReply =>
  sendError(reply, badQuery(problems))

const badQuery = (problems: Problem[]): RequestError => ({
  status: 400,
  message: problems[0]?.message ?? 'the query is wrong',
  problems,
})

/** A limit from 1 on. */
export const takeLimit =
  (most: number, set: (limit: number) => void): TakeParameter =>
  (value) => {
    const limit = /^\d{1,4}$/.test(value) ? Number(value) : 0
    if (limit < 1 || limit > most) return { code: 'out_of_range', message: `must be an integer from 1 to ${most}` }
    set(limit)
    return undefined
  }

/** One of these words. */
export const takeOneOf =
  <Word extends string>(words: readonly Word[], set: (word: Word) => void): TakeParameter =>
  (value) => {
    const found = words.find((word) => word === value)
    if (found !== undefined) {
      set(found)
      return undefined
    }
    const close = nearest(value, words)
    return {
      code: 'not_one_of',
      message: close ? `has no such value; did you mean ${close}?` : `must be one of ${words.join(', ')}`,
    }
  }
