import type { Key } from '#ledger/keys.js'
import type { OperatorActions } from '#query/operators/actions.js'

/** Keys and organisations in memory. */
export const createFakeOperators = (): OperatorActions & { all: Map<string, Key> } => {
  const all = new Map<string, Key>()
  const limits = new Map<string, { requests_per_second: number | null; records_per_second: number | null }>()
  const never = { expires_at: null, revoked_at: null, last_used_at: null, created_at: new Date(0) }
  const insert = (org: string, scopes: readonly string[] | null) => {
    const keyId = `key${all.size}`
    all.set(keyId, { ...never, key_id: keyId, org, scopes: scopes && [...scopes], is_operator: false })
    limits.set(org, limits.get(org) ?? { requests_per_second: null, records_per_second: null })
    return { keyId, key: `text of ${keyId}`, expires_at: null }
  }
  return {
    all,
    organisations: async ({ after = '', prefix = '', most } = {}) =>
      [...limits]
        .map(([org, own]) => ({ org, created_at: new Date(0), active_keys: 1, ...own }))
        .filter(({ org }) => org > after && org.startsWith(prefix))
        .sort((a, b) => (a.org < b.org ? -1 : 1))
        .slice(0, most),
    keys: async (org, { after, most }) => {
      const own = [...all.values()].filter((key) => org === null || key.org === org)
      const from = own.findIndex(({ key_id }) => key_id === after) + 1
      return own.slice(from, most === undefined ? undefined : from + most)
    },
    issue: async ({ org, scopes }) => insert(org, scopes),
    rotate: async (keyId, { grace }) => {
      const old = all.get(keyId)
      if (!old) return undefined
      if (old.is_operator) return { problem: "an operator's key is rotated at the server" }
      return { ...insert(old.org, old.scopes), old, endsAt: new Date(grace) }
    },
    revoke: async (keyId) => {
      const key = all.get(keyId)
      if (!key) return undefined
      key.revoked_at ??= new Date(0)
      return { key_id: keyId, org: key.org, revoked_at: key.revoked_at, already: false }
    },
    setLimits: async (org, given) => {
      const own = limits.get(org)
      return own && Object.assign(own, given)
    },
  }
}
