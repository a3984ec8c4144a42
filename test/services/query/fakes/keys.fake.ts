import { requestError } from '#http/request-error.js'
import type { KeyWithMakers } from '#ledger/keys.js'
import type { KeyActions } from '#query/keys/actions.js'

/** Keys in memory, for tests of the routes; what is allowed is tested with a real Postgres. */
export const createFakeKeys = (
  onOrg: (org: string) => void = () => {},
): KeyActions & { all: Map<string, KeyWithMakers> } => {
  const all = new Map<string, KeyWithMakers>()
  const never = { expires_at: null, revoked_at: null, last_used_at: null, created_at: new Date(0), revoked_by: null }
  const insert = (org: string, name: string | null, scopes: readonly string[] | null, actor: string) => {
    const keyId = `key${all.size}`
    const created_by = { actor, name: null, isOperator: true }
    const kept = scopes && [...scopes]
    all.set(keyId, { ...never, key_id: keyId, name, org, scopes: kept, is_operator: false, created_by })
    onOrg(org)
    return { keyId, key: `text of ${keyId}`, expires_at: null, scopes: kept, isNewOrg: false }
  }
  return {
    all,
    list: async ({ org }, { after, most }) => {
      const own = [...all.values()].filter((key) => org === null || key.org === org)
      const from = own.findIndex(({ key_id }) => key_id === after) + 1
      return own.slice(from, most === undefined ? undefined : from + most)
    },
    audit: async () => [],
    verifyAudit: async (org) => ({ org, entries: 0, redacted: 0, from: null, head: null, problem: null }),
    issue: async ({ actor }, { org, name, scopes = null }) => insert(org, name, scopes, actor),
    rotate: async ({ actor }, keyId, { grace }) => {
      const old = all.get(keyId)
      if (!old) return undefined
      if (old.is_operator) return { error: requestError(409, "an operator's key is rotated at the server") }
      return { ...insert(old.org, old.name, old.scopes, actor), old, endsAt: new Date(grace) }
    },
    rename: async (_by, keyId, name) => {
      const key = all.get(keyId)
      return key && { key_id: keyId, org: key.org, name: Object.assign(key, { name }).name }
    },
    revoke: async (_by, keyId) => {
      const key = all.get(keyId)
      if (!key) return undefined
      key.revoked_at ??= new Date(0)
      return { key_id: keyId, org: key.org, revoked_at: key.revoked_at, already: false }
    },
  }
}
