import type { FastifyInstance } from 'fastify'
import { addEndpoints, badRequest, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError } from '#http/request-error.js'
import * as ledger from '#ledger/analytics/saved-queries.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import {
  deleteQuery,
  listQueries,
  mostQueries,
  queryNamePattern,
  saveQuery,
} from '#schemas/endpoints/sql/saved-queries.js'
import { longestQuery } from '#schemas/endpoints/sql/sql.js'
import type { Reads } from '../reads.js'

/** What the routes of saved queries need of the ledger. */
export type SavedQueries = ReturnType<typeof createSavedQueries>

type Wanted = { org: string; name: string; query: string; about: string | null; keyId: string }
type Saved = ledger.SavedQueryRow | { error: RequestError }

export const createSavedQueries = (pool: Pool) => ({
  list: (org: string) => ledger.listSavedQueries(pool, org),
  /** A new one; with a version the one that has it. */
  save: async (wanted: Wanted, version: number | undefined): Promise<Saved> => {
    const saved =
      version === undefined
        ? await ledger.addSavedQuery(pool, { ...wanted, most: mostQueries })
        : await ledger.replaceSavedQuery(pool, { ...wanted, version })
    if (saved) return saved
    return { error: whyNotSaved(await ledger.findSavedQuery(pool, wanted.org, wanted.name), version) }
  },
  /** Whether there was one. */
  remove: (org: string, name: string) => ledger.deleteSavedQuery(pool, org, name),
})

export type SavedQueryDeps = { catalogue: Catalogue; savedQueries: SavedQueries; consoleReads: Reads }

/** /v1/queries: the queries that the people of an organisation share. */
export const addSavedQueries = (app: FastifyInstance, deps: SavedQueryDeps): void => {
  const { savedQueries, consoleReads } = deps
  addEndpoints(app, deps.catalogue, [
    on(listQueries, async (_, request) => {
      const { orgId } = callerOf(request)
      const queries = await consoleReads(orgId, () => savedQueries.list(orgId))
      return 'error' in queries ? queries : { queries }
    }),
    on(
      saveQuery,
      async ({ parameters: { name }, body: { query, about = null, version } }, request) => {
        const { orgId: org, keyId } = callerOf(request)
        if (!isName.test(name)) return { error: badName }
        const wanted = { org, name, query, about, keyId: keyId ?? 'nobody' }
        return consoleReads(org, () => savedQueries.save(wanted, version))
      },
      { bodyLimit: longestQuery * 6 + 8192 },
    ),
    on(deleteQuery, async ({ parameters: { name } }, request) => {
      const { orgId } = callerOf(request)
      const wasThere = await consoleReads(orgId, async () => ({ wasThere: await savedQueries.remove(orgId, name) }))
      if ('error' in wasThere) return wasThere
      return wasThere.wasThere ? { name } : { error: noSuchQuery }
    }),
  ])
}

const isName = new RegExp(queryNamePattern, 'u')
const badName = badRequest([
  {
    field: 'name',
    code: 'bad_format',
    message: 'the name must have 1 to 60 characters, no slash and no line end, and neither begin nor end with a space',
  },
])
const noSuchQuery = requestError(404, 'there is no saved query of this name; GET /v1/queries shows those there are')

const whyNotSaved = (there: ledger.SavedQueryRow | undefined, version: number | undefined): RequestError => {
  if (there && version === undefined)
    return requestError(
      409,
      `there is a saved query of this name already, of ${there.saved_by}; choose another name, or replace it with version ${there.version}`,
    )
  if (there)
    return requestError(
      409,
      `${there.saved_by} has saved this query meanwhile (version ${there.version}); look at it first, or save yours under another name`,
    )
  return version === undefined
    ? requestError(409, `your organisation has ${mostQueries} saved queries; delete some that are not used any more`)
    : requestError(409, 'this saved query was deleted meanwhile; save yours without a version')
}
