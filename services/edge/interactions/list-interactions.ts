import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import { readInteractions } from '#schemas/derive/scopes.js'
import { callerOf } from '../http/request-context.js'
import { sendError } from '../http/request-error.js'
import { writeCursor } from './cursor.js'
import { createQueryReader } from './query.js'
import type { InteractionRow, ReadInteractions } from './reader.js'

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
    // One more than asked for tells whether there is a next page.
    const rows = await deps.readInteractions(callerOf(request).orgId, { ...read.query, limit: limit + 1 })
    const page = rows.slice(0, limit)
    return reply.send({ interactions: page, next_cursor: rows.length > limit ? cursorAfter(page.at(-1)) : null })
  }

  return { config: { scope: readInteractions }, handler }
}

const cursorAfter = (row: InteractionRow | undefined): string | null =>
  row ? writeCursor({ timestamp: Date.parse(row.event_timestamp), id: row.interaction_id }) : null
