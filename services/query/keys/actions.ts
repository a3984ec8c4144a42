import { type RequestError, requestError, Unavailable } from '#http/request-error.js'
import { type Doer, findMadeKey, isDoneBefore, listAudit } from '#ledger/audit.js'
import { verifyAudit } from '#ledger/audit-chain.js'
import * as ledger from '#ledger/keys.js'
import { DeletedOrg, type ListPart } from '#ledger/organisations.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { keptScopes } from '#schemas/derive/scopes.js'
import { ruleOnChanging, ruleOnMaking, ruleOnOld, ruleOnRotating, scopesUnlessSaid } from './rules.js'

/** Who changes keys by HTTP, and whose: those of one organisation, by a key of it; or everybody's, by an operator. */
export type KeyChanger = Doer & { org?: string | undefined }

export type KeyActions = ReturnType<typeof createKeyActions>

/** `name`, `scopes` and `lifetime` (milliseconds) are undefined where nothing was said. */
type Wanted = {
  org: string
  name: string | null
  scopes: readonly string[] | null | undefined
  lifetime: number | undefined
}

/** What is done with keys by HTTP; why something is not done is a value. */
export const createKeyActions = (pool: Pool, catalogue: Catalogue) => {
  const change = async <T>(by: KeyChanger, work: (c: Connection, manager?: ledger.Manager) => Promise<T>) => {
    try {
      return await inTransaction(pool, async (connection) => {
        if (by.org === undefined) return work(connection)
        const manager = await ledger.lockManager(connection, { org: by.org, keyId: by.actor })
        if (!manager) throw new NotDone(ended)
        return work(connection, manager)
      })
    } catch (error) {
      if (error instanceof NotDone) return { error: error.answer }
      if (error instanceof DeletedOrg) return { error: requestError(409, error.message) }
      if (isDoneBefore(error) && by.requestId !== undefined)
        return { error: madeBefore(await findMadeKey(pool, by.requestId).catch(unavailable)) }
      return unavailable(error)
    }
  }

  return {
    list: (filter: ledger.KeyFilter, part: ListPart) => ledger.listKeys(pool, filter, part).catch(unavailable),
    audit: (org: string | null, part: { before?: number | undefined; most: number }) =>
      listAudit(pool, org, part).catch(unavailable),
    verifyAudit: (org: string, head?: string) =>
      inTransaction(pool, (connection) => verifyAudit(connection, org, head), { queryTimeout: verifiesWithin }),
    issue: (by: KeyChanger, { org, name, scopes: wanted, lifetime }: Wanted) =>
      change(by, async (connection, manager) => {
        const scopes = keptScopes(wanted ?? (manager && wanted === undefined ? scopesUnlessSaid(manager.scopes) : null))
        if (scopes?.length === 0) throw new NotDone(nothingToGive)
        const given = manager
          ? orNotDone(ruleOnMaking(manager, { scopes, lifetime }, catalogue))
          : { lifetime: lifetime ?? null }
        const made = await ledger.issueKey(connection, { org, name, scopes, ...given }, by)
        return { ...made, scopes }
      }),
    /** Undefined where there is no such key. */
    rotate: (by: KeyChanger, keyId: string, { grace, lifetime }: { grace: number; lifetime: number | undefined }) =>
      change(by, async (connection, manager) => {
        const old = await ledger.lockKey(connection, keyId, by)
        if (!old) return undefined
        const problem = ruleOnOld(old, new Date())
        if (problem) throw new NotDone(problem)
        const given = manager
          ? orNotDone(ruleOnRotating(manager, old, lifetime, catalogue))
          : { lifetime: lifetime ?? ledger.givenLife(old) }
        return { old, ...(await ledger.rotateKey(connection, old, { grace, ...given }, by)) }
      }),
    rename: (by: KeyChanger, keyId: string, name: string | null) =>
      change(by, async (connection, manager) => {
        orRefuse(manager && ruleOnChanging(manager))
        return ledger.renameKey(connection, { keyId, name }, by, by)
      }),
    revoke: (by: KeyChanger, keyId: string) =>
      change(by, async (connection, manager) => {
        // However often keys were changed today, a leaked one can be ended.
        if (manager && keyId === by.actor) throw new NotDone(ownKey)
        return ledger.revokeKey(connection, keyId, by, by)
      }),
  }
}

// Some millions of entries.
const verifiesWithin = 60_000

/** Ends the transaction of a change that is not to be. */
class NotDone extends Error {
  readonly answer: RequestError
  constructor(answer: RequestError) {
    super('this change is not made')
    this.answer = answer
  }
}

const orNotDone = <T extends object>(rule: T | { error: RequestError }): T => {
  if ('error' in rule) throw new NotDone(rule.error)
  return rule
}
const orRefuse = (problem: RequestError | undefined): void => {
  if (problem) throw new NotDone(problem)
}

const ended = requestError(403, 'this API key has just been revoked, or has expired')
const ownKey = requestError(
  409,
  'this is the key that you are using, and without it you could change no more; rotate it with grace_seconds 0, or revoke it by another key',
)
const nothingToGive = requestError(400, 'your key has no scope that it could give; name the scopes of the new key')
const madeBefore = (keyId: string | undefined): RequestError =>
  requestError(
    409,
    `this request made the key ${keyId} when it came before, and its text is not kept; revoke that key, and make another with another Idempotency-Key`,
  )

const unavailable = (cause: unknown): never => {
  throw new Unavailable('keys cannot be read or changed at the moment', { cause })
}
