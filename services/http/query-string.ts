import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '#schemas/problem.js'
import { fault, type GivenParameters, oneOf, type ParameterFault, readEach } from './parameters.js'
import { type RequestError, sendError } from './request-error.js'

/** Takes the value of one parameter, and says what is wrong with it, if anything is. */
export type TakeValue = (value: string) => ParameterFault | undefined

/**
 * Reads each parameter of a query string by its name. One that is unknown, or given twice, is refused: an answer to another question
 * would look like the answer to this one.
 */
export const readQuery = (request: FastifyRequest, known: Readonly<Record<string, TakeValue>>): Problem[] =>
  readEach(request.query as GivenParameters, Object.keys(known), 'query parameter', (name, value) =>
    known[name]?.(value),
  )

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
export const takeLimitTo =
  (most: number, set: (limit: number) => void): TakeValue =>
  (value) => {
    const limit = /^\d{1,4}$/.test(value) ? Number(value) : 0
    if (limit < 1 || limit > most) return fault('out_of_range', `must be an integer from 1 to ${most}`)
    set(limit)
    return undefined
  }

/** One of these words. */
export const takeOneOf =
  <Word extends string>(words: readonly Word[], set: (word: Word) => void): TakeValue =>
  (value) => {
    const wrong = oneOf(value, words)
    if (!wrong) set(value as Word)
    return wrong
  }
