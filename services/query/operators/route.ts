import type { FastifyInstance } from 'fastify'
import { pageOf, readCursor, writeCursor } from '#http/cursor.js'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as endpoints from '#schemas/endpoints/access/organisations.js'
import { doerOf, readLast } from '../keys/route.js'
import type { Reads } from '../reads.js'
import type { OperatorActions } from './actions.js'
import { type AfterVolume, type OrgFigures, type OrgVolume, volumeOf } from './figures.js'
import type { SystemState } from './system.js'

export type OperatorDeps = {
  catalogue: Catalogue
  operators: OperatorActions
  orgFigures: OrgFigures
  systemState: SystemState
  /** How many milliseconds an organisation's oldest batch of a type has been undecided. */
  lagOf: (type: string, orgId: string) => number
  consoleReads: Reads
  now: () => number
}

/** Organisations and the parts of the system, for operators. */
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

  const types = [...deps.catalogue.all.keys()]
  const figures = on(
    endpoints.rankOrganisations,
    async ({ query: { hours, prefix = '', limit, cursor: after } }, request) => {
      const since = new Date(deps.now() - hours * anHour)
      const asked = { since, prefix, after, most: limit + 1 }
      const found = await deps.consoleReads(callerOf(request).orgId, () => deps.orgFigures(asked))
      if ('error' in found) return found
      const cursorAfter = (last: OrgVolume) => writeCursor([volumeOf(last), last.org])
      const { shown, next_cursor } = pageOf(found.organisations, limit, cursorAfter)
      const organisations = shown.map(({ oldestWait, ...one }) => ({
        ...one,
        oldest_wait: oldestWait,
        lag_seconds: Math.max(...types.map((type) => deps.lagOf(type, one.org))) / 1000,
      }))
      return { since, all: found.all, organisations, next_cursor }
    },
    { reads: { cursor: readAfterVolume } },
  )

  const system = on(endpoints.readSystem, () => deps.systemState())

  addEndpoints(app, deps.catalogue, [organisations, limit, figures, system])
}

const anHour = 3_600_000

const readAfterVolume = (text: string): AfterVolume | undefined => {
  const [volume, org] = readCursor(text, 2)
  return Number.isSafeInteger(volume) && typeof org === 'string' && isOrg(org)
    ? { volume: Number(volume), org }
    : undefined
}

const isOrg = (text: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/.test(text)

const noSuchOrg = requestError(
  404,
  'there is no such organisation; GET /v1/operator/organisations shows those there are',
)
