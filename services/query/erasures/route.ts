import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { requestError } from '#http/request-error.js'
import type { Doer } from '#ledger/audit.js'
import {
  askErasure,
  asShown,
  type Erasure,
  type ErasureOfPerson,
  findErasure,
  isOfPerson,
  listErasures,
  type NewErasure,
} from '#ledger/erasures/erasures.js'
import { signingKey } from '#persons/erase/prove.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as endpoints from '#schemas/endpoints/persons/erasures.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from '../reads.js'

export type ErasureActions = ReturnType<typeof createErasureActions>
export const createErasureActions = (pool: Pool) => ({
  ask: (asked: NewErasure & Pick<ErasureOfPerson, 'mode'>, by: Doer) =>
    inTransaction(pool, (connection) => askErasure(connection, asked, by)),
  list: (orgId: string) => listErasures(pool, orgId),
  find: (erasureId: string) => findErasure(pool, erasureId),
  publicKey: async () => (await signingKey(pool)).publicKey,
})

export type ErasureDeps = { catalogue: Catalogue; erasures: ErasureActions; consoleReads: Reads }

/** /v1/erasures: persons whom the caller's organisation has forgotten. What is asked for here the delivery service does. */
export const addErasures = (app: FastifyInstance, deps: ErasureDeps): void => {
  const { erasures, consoleReads } = deps
  addEndpoints(app, deps.catalogue, [
    on(endpoints.createErasure, async ({ body }, request, reply) => {
      const { orgId, keyId } = callerOf(request)
      const { person_id: personId, mode, dry_run: isDryRun = false, afterwards = 'refuse' } = body
      const by = { actor: keyId ?? 'nobody', requestId: request.id }
      const asked = await consoleReads(orgId, async () =>
        asShown(await erasures.ask({ orgId, personId, mode, isDryRun, afterwards }, by)),
      )
      if (!('error' in asked)) reply.code(202)
      return asked
    }),
    on(endpoints.listErasures, (_, request) => {
      const { orgId } = callerOf(request)
      return consoleReads(orgId, async () => ({
        erasures: (await erasures.list(orgId)).filter(isOfPerson).map((each) => asShown(each)),
      }))
    }),
    on(endpoints.readErasure, ({ parameters: { erasure_id: id } }, request) => {
      const { orgId } = callerOf(request)
      return consoleReads(orgId, async () => {
        const found = isUuid(id) ? await erasures.find(id) : undefined
        if (found?.orgId !== orgId || !isOfPerson(found)) return { error: noSuchErasure }
        return { ...asShown(found), proof: await proofOf(found, erasures) }
      })
    }),
  ])
}

/** What a dry run has signed says what there is, and so is the proof of nothing. */
const proofOf = async ({ isDryRun, report, signature }: Erasure, { publicKey }: ErasureActions) =>
  isDryRun || report === null || signature === null ? null : { report, signature, public_key: await publicKey() }

const noSuchErasure = requestError(404, 'your organisation has no erasure with this erasure_id')
