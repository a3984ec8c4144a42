import { pageOf, readCursor as readParts, writeCursor as writeParts } from '#http/cursor.js'
import { type AskedOf, type EndpointRoute, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { createReader } from '#schemas/derive/value-reader.js'
import { listInteractionsOf } from '#schemas/endpoints/interactions.js'
import type { Value } from '#schemas/field.js'
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

/** GET /user-interactions, newest first. Filters are read as a record's fields: one that could never match is refused. */
export const createListInteractions = (deps: {
  catalogue: Catalogue
  readInteractions: ReadInteractions
}): EndpointRoute => {
  const { interaction } = deps.catalogue
  return on(
    listInteractionsOf(interaction),
    async ({ query }, request) => {
      const asked = toInteractionQuery(query)
      const { limit } = asked
      const rows = await deps.readInteractions(callerOf(request).orgId, { ...asked, limit: limit + 1 })
      const { shown, next_cursor } = pageOf(rows, limit, cursorAfter)
      return { interactions: shown, next_cursor }
    },
    { reads: interactionReads(interaction) },
  )
}

/** How the parameters are read that are fields of an interaction, and the cursor. */
export const interactionReads = ({ fields }: RecordType) => {
  const readers = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, createReader(field)]))
  return { ...readers, cursor: readCursor } as { cursor: typeof readCursor }
}

type AskedInteractions = AskedOf<ReturnType<typeof listInteractionsOf>, ReturnType<typeof interactionReads>>['query']

export const toInteractionQuery = ({ from, to, limit, cursor, ...filters }: AskedInteractions): InteractionQuery => ({
  filters,
  ...(from && { from: from.getTime() }),
  ...(to && { to: to.getTime() }),
  ...(cursor && { after: cursor }),
  limit,
})

const cursorAfter = (row: InteractionRow): string =>
  writeCursor({ timestamp: Date.parse(row.event_timestamp), id: row.interaction_id })

/** The last interaction of a page. */
export type PageCursor = { timestamp: number; id: string }

export const writeCursor = ({ timestamp, id }: PageCursor): string => writeParts([timestamp, id])

/** Undefined where the text is no cursor of ours. */
export const readCursor = (text: string): PageCursor | undefined => {
  const [timestamp, id] = readParts(text, 2)
  return isInstant(timestamp) && typeof id === 'string' && isUuid(id) ? { timestamp, id } : undefined
}

const isInstant = (ms: unknown): ms is number =>
  Number.isSafeInteger(ms) && Number(ms) >= Date.UTC(firstYear) && Number(ms) < Date.UTC(lastYear + 1)
