import type { FastifyInstance, FastifyReply } from 'fastify'
import { addEndpoints, badRequest, on } from '#http/endpoint.js'
import { acceptsCsv, callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { csvLine } from '#schemas/csv-rows.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { listMarts, readMart } from '#schemas/endpoints/marts.js'
import { marts } from '#schemas/marts/all.js'
import type { Mart } from '#schemas/marts/mart.js'
import type { Reads } from '../reads.js'
import type { MartRow, ReadMartRows } from './read-mart.js'
import { toStatement } from './statement.js'

export type MartDeps = { catalogue: Catalogue; readMartRows: ReadMartRows; martReads: Reads }

/** GET /v1/marts and GET /v1/marts/{mart}: which ready answers there are, and an organisation's own rows of one. */
export const addMarts = (app: FastifyInstance, deps: MartDeps): void => {
  const references = { marts: marts.map(referenceOf) }

  const list = on(listMarts, async () => references)

  const read = on(readMart, async ({ parameters, query }, request, reply) => {
    const mart = marts.find(({ name }) => name === parameters.mart)
    if (!mart) return { error: noMart(parameters.mart) }
    const { orgId } = callerOf(request)
    const statement = toStatement(mart, orgId, query)
    if ('problems' in statement) return { error: badRequest(statement.problems) }
    const { sql, values, settings, columns, pasteable } = statement
    // One more than is answered tells whether there are more.
    const more = { sql, settings, values: { ...values, limit: query.limit + 1 } }
    const found = await deps.martReads(orgId, () => deps.readMartRows(more))
    if ('error' in found) return found
    const rows = found.slice(0, query.limit)
    const truncated = found.length > rows.length
    reply.header('vary', 'accept')
    if (acceptsCsv(request))
      return sendCsv(
        reply,
        mart.name,
        csvOf(
          columns.map(({ name }) => name),
          rows,
        ),
        truncated,
      )
    return { mart: mart.name, columns, rows, sql: pasteable, truncated }
  })

  addEndpoints(app, deps.catalogue, [list, read])
}

const referenceOf = ({ name, about, grain, columns, asked }: Mart) => ({
  name,
  about,
  grain,
  columns: Object.entries(columns).map(([column, { type, about: meaning }]) => ({
    name: column,
    type,
    about: meaning,
  })),
  asked: asked ?? null,
})

const noMart = (given: string) => {
  const names = marts.map(({ name }) => name)
  const close = nearest(given, names)
  return requestError(
    404,
    `there is no mart of this name; ${close ? `did you mean ${close}? ` : ''}There are ${names.join(', ')}`,
  )
}

const sendCsv = (reply: FastifyReply, mart: string, text: string, truncated: boolean): FastifyReply =>
  reply
    .type('text/csv; charset=utf-8')
    .serializer(String)
    .headers({ 'content-disposition': `attachment; filename="${mart}.csv"`, 'weir-truncated': String(truncated) })
    .send(text)

const csvOf = (names: readonly string[], rows: readonly MartRow[]): string =>
  [names, ...rows.map((row) => names.map((name) => row[name]))].map(csvLine).join('')
