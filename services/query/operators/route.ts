import type { FastifyInstance } from 'fastify'
import { pageOf, writeCursor } from '#http/cursor.js'
import { addEndpoints, on } from '#http/endpoint.js'
import { requestError } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as endpoints from '#schemas/endpoints/access/organisations.js'
import { doerOf, readLast } from '../keys/route.js'
import type { OperatorActions } from './actions.js'

export type OperatorDeps = { catalogue: Catalogue; operators: OperatorActions }

/** Organisations, for operators. */
export const addOperators = (app: FastifyInstance, deps: OperatorDeps): void => {
  const { operators: actions } = deps

  const organisations = on(
    endpoints.listOrganisations,
    async ({ query: { prefix, limit, cursor } }) => {
      const found = await actions.organisations({ prefix, after: cursor, most: limit + 1 })
      const { shown, next_cursor } = pageOf(found, limit, ({ org }) => writeCursor([org]))
      return { organisations: shown, next_cursor }
    },
    { reads: { cursor: readLast } },
  )

  const limit = on(endpoints.limitOrganisation, async ({ body, parameters: { org } }, request) => {
    const by = doerOf(request)
    const limits = isOrg(org) ? await actions.setLimits(org, body, by) : undefined
    if (!limits) return { error: noSuchOrg }
    request.log.info({ org, ...limits, by: by.actor, request_id: request.id }, 'limits set')
    return { org, ...limits }
  })

  addEndpoints(app, deps.catalogue, [organisations, limit])
}

const isOrg = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)

const noSuchOrg = requestError(
  404,
  'there is no such organisation; GET /v1/operator/organisations shows those there are',
)
