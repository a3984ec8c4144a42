import { Unavailable } from '#http/request-error.js'
import type { Doer } from '#ledger/audit.js'
import { listOrgs, type OrgLimits, setOrgLimits } from '#ledger/organisations.js'
import type { Pool } from '#platform/postgres/postgres.js'

/** What operators see and do by the console; the rest they do by the weir command. */
export type OperatorActions = ReturnType<typeof createOperatorActions>

export const createOperatorActions = (pool: Pool) => ({
  organisations: (asked: Parameters<typeof listOrgs>[1]) => listOrgs(pool, asked).catch(unavailable),
  setLimits: (org: string, limits: Partial<OrgLimits>, by: Doer) =>
    setOrgLimits(pool, org, limits, by).catch(unavailable),
})

const unavailable = (cause: unknown): never => {
  throw new Unavailable('organisations cannot be read or changed at the moment', { cause })
}
