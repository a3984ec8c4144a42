import type { OperatorActions } from '#query/operators/actions.js'

/** Organisations in memory. */
export const createFakeOperators = (): OperatorActions & { add: (org: string) => void } => {
  const limits = new Map<string, { requests_per_second: number | null; records_per_second: number | null }>()
  return {
    add: (org) => void limits.set(org, limits.get(org) ?? { requests_per_second: null, records_per_second: null }),
    organisations: async ({ after = '', prefix = '', most } = {}) =>
      [...limits]
        .map(([org, own]) => ({ org, created_at: new Date(0), active_keys: 1, ...own }))
        .filter(({ org }) => org > after && org.startsWith(prefix))
        .sort((a, b) => (a.org < b.org ? -1 : 1))
        .slice(0, most),
    setLimits: async (org, given) => {
      const own = limits.get(org)
      return own && Object.assign(own, given)
    },
  }
}
