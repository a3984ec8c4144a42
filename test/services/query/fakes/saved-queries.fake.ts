import { requestError } from '#http/request-error.js'
import type { SavedQueryRow } from '#ledger/analytics/saved-queries.js'
import type { SavedQueries } from '#query/sql/saved-queries.js'

/** The rules of the real one, over a map: an organisation's own, each replaced only by who knows its version. */
export const createFakeSavedQueries = (): SavedQueries => {
  const saved = new Map<string, SavedQueryRow>()
  return {
    list: async (org) => [...saved].filter(([key]) => key.startsWith(`${org}/`)).map(([, row]) => row),
    save: async ({ org, name, query, about, keyId }, version) => {
      const there = saved.get(`${org}/${name}`)
      if (there?.version !== version) return { error: requestError(409, 'not the version that is there') }
      const row = {
        ...{ name, query, about, version: (version ?? 0) + 1 },
        ...{ saved_at: new Date(Date.UTC(2026, 0, 1)), saved_by: keyId },
      }
      saved.set(`${org}/${name}`, row)
      return row
    },
    remove: async (org, name) => saved.delete(`${org}/${name}`),
  }
}
