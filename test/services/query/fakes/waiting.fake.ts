import type { MissingRecord, Wait } from '#ledger/waiting/look-up.js'
import type { OwnWaiting, OwnWaits } from '#query/waiting/waiting.js'

/** `locked`: those that are being decided. */
export type FakeWaiting = OwnWaiting & { waits: Wait[]; locked: Set<Wait> }

/** The rules of the real one, over an array: an organisation's own, those that wait now, the oldest first. */
export const createFakeWaiting = (): FakeWaiting => {
  const ofOrg = (orgId: string, { type, id, missing }: OwnWaits = {}) =>
    fake.waits
      .filter((wait) => wait.orgId === orgId && wait.state === 'waiting')
      .filter((wait) => (type === undefined || wait.type === type) && (id === undefined || wait.id === id))
      .filter((wait) => !missing || wait.missing.some((one) => one.type === missing.type && one.id === missing.id))
      .sort((a, b) => a.since.getTime() - b.since.getTime() || compare(a.batchId, b.batchId) || a.place - b.place)
  const fake: FakeWaiting = {
    waits: [],
    locked: new Set(),
    missing: async (orgId, { type, after, limit }) => {
      const all = new Map<string, MissingRecord & { sample: Wait[] }>()
      for (const wait of ofOrg(orgId)) {
        for (const one of wait.missing.filter((each) => type === undefined || each.type === type)) {
          const name = `${one.type}/${one.id}`
          const seen = all.get(name) ?? {
            orgId,
            type: one.type,
            id: one.id,
            waiting: 0,
            oldest: wait.since,
            firstUntil: wait.until,
            sample: [],
          }
          const firstUntil = new Date(Math.min(wait.until.getTime(), seen.firstUntil.getTime()))
          all.set(name, { ...seen, waiting: seen.waiting + 1, firstUntil, sample: [...seen.sample, wait].slice(0, 3) })
        }
      }
      const sorted = [...all.values()].sort(
        (a, b) => a.oldest.getTime() - b.oldest.getTime() || compare(a.type, b.type) || compare(a.id, b.id),
      )
      const from = after ? sorted.findIndex((one) => one.type === after.type && one.id === after.id) + 1 : 0
      const page = sorted.slice(from, from + limit)
      return {
        missing: page.map((one) => ({
          ...one,
          sample: one.sample.map((wait) => ({ ...wait, missingType: one.type, missingId: one.id })),
        })),
        waiting: ofOrg(orgId).length,
      }
    },
    records: async (orgId, filter, { after, limit }) => {
      const all = ofOrg(orgId, filter)
      const from = after ? all.findIndex((one) => one.batchId === after.batchId && one.place === after.place) + 1 : 0
      return all.slice(from, from + limit)
    },
    count: async (orgId, filter) => ofOrg(orgId, filter).length,
    cancel: async (orgId, filter, most) => {
      const chosen = ofOrg(orgId, filter)
        .filter((wait) => !fake.locked.has(wait))
        .slice(0, most)
      for (const wait of chosen) wait.state = 'cancelled'
      return chosen.length
    },
  }
  return fake
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
