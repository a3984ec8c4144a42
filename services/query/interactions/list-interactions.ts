import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerOf } from '#http/request-context.js'
import { sendError } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { readInteractions } from '#schemas/derive/scopes.js'
import { createReader, isFault } from '#schemas/derive/value-reader.js'
import { type Field, moment, type Value } from '#schemas/field.js'
import type { Problem, ProblemCode } from '#schemas/problem.js'
import { firstYear, lastYear } from '#schemas/read-instant.js'
import type { RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'

/** At most `limit` interactions of one organisation, newest first. */
export type ReadInteractions = (orgId: string, query: InteractionQuery) => Promise<InteractionRow[]>

export type InteractionQuery = {
  /** Field names and the values that they must have. */
  filters: Record<string, Value>
  /** The first moment that is included, and the first after it that is not. */
  from?: number
  to?: number
  after?: PageCursor
  limit: number
}
/** An interaction under its spec names; times are ISO, in UTC. */
export type InteractionRow = { interaction_id: string; event_timestamp: string; [field: string]: unknown }

/** GET /user-interactions: an organisation's own, newest first, a page at a time. */
export const createListInteractions = (deps: { catalogue: Catalogue; readInteractions: ReadInteractions }) => {
  const readQuery = createQueryReader(deps.catalogue.interaction)

  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const read = readQuery(request.query as Record<string, unknown>)
    if ('problems' in read) {
      const message = read.problems[0]?.message ?? 'the query is not right'
      return sendError(reply, { status: 400, message, problems: read.problems })
    }
    const { limit } = read.query
    // One row more than asked for shows whether there is a next page.
    const rows = await deps.readInteractions(callerOf(request).orgId, { ...read.query, limit: limit + 1 })
    const page = rows.slice(0, limit)
    return reply.send({ interactions: page, next_cursor: rows.length > limit ? cursorAfter(page.at(-1)) : null })
  }

  return { config: { scope: readInteractions }, handler }
}

const cursorAfter = (row: InteractionRow | undefined): string | null =>
  row ? writeCursor({ timestamp: Date.parse(row.event_timestamp), id: row.interaction_id }) : null

const filterNames = ['student_id', 'user_id', 'item_type', 'item_id', 'interaction_type', 'platform', 'source']
const mostRows = 1000
const defaultRows = 100

/**
 * Reads the query string with the same readers as the body: a value that could never match is refused, not answered
 * with nothing.
 */
export const createQueryReader = (type: RecordType) => {
  const fields = filterNames.flatMap((name): [string, Field][] =>
    type.fields[name] ? [[name, type.fields[name]]] : [],
  )
  const filters = new Map(fields.map(([name, field]) => [name, createReader(field)]))
  const readMoment = createReader(moment())
  const known = [...filters.keys(), 'from', 'to', 'limit', 'cursor']

  return (given: Readonly<Record<string, unknown>>): { query: InteractionQuery } | { problems: Problem[] } => {
    const query: InteractionQuery = { filters: {}, limit: defaultRows }
    const problems: Problem[] = []
    const refuse = (field: string, code: ProblemCode, message: string) =>
      problems.push({ field, code, message: `${field} ${message}` })

    for (const [name, value] of Object.entries(given)) {
      const read = filters.get(name) ?? (name === 'from' || name === 'to' ? readMoment : undefined)
      if (!known.includes(name)) problems.push(unknownParameter(name, known))
      else if (typeof value !== 'string') refuse(name, 'wrong_type', 'may be given once only')
      else if (read) {
        const result = read(read === readMoment ? numberOr(value) : value)
        if (isFault(result)) refuse(name, result.code, result.message)
        else if (name === 'from' || name === 'to') query[name] = Number(result)
        else query.filters[name] = result
      } else if (name === 'limit') {
        query.limit = /^\d{1,4}$/.test(value) ? Number(value) : 0
        if (query.limit < 1 || query.limit > mostRows)
          refuse(name, 'out_of_range', `must be an integer from 1 to ${mostRows}`)
      } else {
        const after = readCursor(value)
        if (after) query.after = after
        else refuse(name, 'bad_format', 'must be the next_cursor of an answer')
      }
    }
    return problems.length > 0 ? { problems } : { query }
  }
}

const numberOr = (text: string): string | number => (/^\d{1,15}$/.test(text) ? Number(text) : text)

const unknownParameter = (name: string, known: readonly string[]): Problem => {
  const close = nearest(name, known)
  const hint = close ? `did you mean ${close}?` : `known are ${known.join(', ')}`
  return { field: null, code: 'unknown_field', message: `there is an unknown query parameter; ${hint}` }
}

/** The last interaction of a page. */
export type PageCursor = { timestamp: number; id: string }

export const writeCursor = ({ timestamp, id }: PageCursor): string =>
  Buffer.from(JSON.stringify([timestamp, id])).toString('base64url')

/**
 * Undefined where the text is no cursor of ours. A forged cursor can only choose a place in the caller's own
 * interactions.
 */
export const readCursor = (text: string): PageCursor | undefined => {
  const parsed = /^[\w-]{1,200}$/.test(text) ? parse(Buffer.from(text, 'base64url').toString()) : undefined
  if (!Array.isArray(parsed) || parsed.length !== 2) return undefined
  const [timestamp, id] = parsed
  if (!isInstant(timestamp) || typeof id !== 'string' || !isUuid(id)) return undefined
  // A place is written in one way only: any other text was not written by us.
  return writeCursor({ timestamp, id }) === text ? { timestamp, id } : undefined
}

const isInstant = (ms: unknown): boolean =>
  Number.isSafeInteger(ms) && Number(ms) >= Date.UTC(firstYear) && Number(ms) < Date.UTC(lastYear + 1)

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
