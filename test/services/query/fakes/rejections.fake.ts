import type { StoredOrder } from '#ledger/retries/orders.js'
import type { KnownRejection } from '#query/rejections/answers.js'
import { skippedOf } from '#query/rejections/answers.js'
import type { OwnRejections } from '#query/rejections/rejections.js'
import type { RetryPlan } from '#rejections/plan-retry.js'
import type { QualityDay } from '#rejections/quality.js'
import type { RejectionGroup } from '#rejections/summary.js'

export type FakeRejections = OwnRejections & {
  rows: KnownRejection[]
  days: (QualityDay & { org: string })[]
  orders: Map<string, StoredOrder & { org: string }>
  waiting: number
  /** Where the next plan ends, and what was asked of the last one. */
  next: RetryPlan['next']
  asked: Parameters<OwnRejections['plan']>[1] | undefined
  /** Called by each question, before it is answered. */
  before: () => Promise<void>
}

/** The rules of the real one, over arrays: an organisation's own, newest first; each rejection ordered once. */
export const createFakeRejections = (): FakeRejections => {
  const ofOrg = (org: string, filter: { type?: string }) =>
    fake.rows
      .filter((row) => row.org === org && (filter.type === undefined || row.type === filter.type))
      .sort((a, b) => b.rejectedAt.getTime() - a.rejectedAt.getTime() || a.index - b.index)
  const fake: FakeRejections = {
    rows: [],
    days: [],
    orders: new Map(),
    waiting: 0,
    next: undefined,
    asked: undefined,
    before: async () => {},
    list: async (org, { filter, after, limit }) => {
      await fake.before()
      const all = ofOrg(org, filter)
      const from = after
        ? all.findIndex(({ batchId, index }) => batchId === after.batchId && index === after.index) + 1
        : 0
      return { rejections: all.slice(from, from + limit), isLast: from + limit >= all.length }
    },
    groups: async (org, filter, most) => {
      await fake.before()
      const groups = new Map<string, RejectionGroup>()
      for (const row of ofOrg(org, filter)) {
        for (const { code, field } of row.problems) {
          const name = `${row.type}/${code}/${field}`
          const seen = {
            type: row.type,
            code,
            field,
            count: 0,
            firstSeen: row.rejectedAt,
            lastSeen: row.rejectedAt,
            sample: row,
          }
          const group = groups.get(name) ?? seen
          groups.set(name, { ...group, count: group.count + 1, firstSeen: row.rejectedAt })
        }
      }
      return [...groups.values()].slice(0, most)
    },
    quality: async (org, { from, to }) => {
      await fake.before()
      return fake.days
        .filter((each) => each.org === org && each.day >= from && each.day <= to)
        .map(({ org: _, ...each }) => each)
    },
    plan: async (org, asked) => {
      await fake.before()
      const { filter, limit } = asked
      fake.asked = asked
      const all = ofOrg(org, filter)
      const wanted = all.filter(({ state }) => state === 'open').slice(0, limit)
      const plan: RetryPlan = {
        jobs: wanted.length > 0 ? [{ retryId: 'r', org, type: wanted[0]?.type ?? '', wanted }] : [],
        matched: all.length,
        superseded: all.filter(({ state }) => state === 'accepted_since').length,
        cannotBeRetried: 0,
        alreadyRetried: all.filter(({ state }) => state === 'retried').length,
        underWay: 0,
        overLimit: all.filter(({ state }) => state === 'open').length - wanted.length,
        next: fake.next,
      }
      return plan
    },
    isBusy: async () => fake.waiting > 0,
    place: async ({ orderId, org, bodySha256 }, plan) => {
      if (fake.orders.has(orderId)) return
      const submitted = plan.jobs.reduce((sum, { wanted }) => sum + wanted.length, 0)
      for (const { wanted } of plan.jobs)
        for (const one of wanted) Object.assign(fake.rows.find((row) => row === one) ?? {}, { state: 'retried' })
      const counts = {
        matched: plan.matched,
        submitted,
        skipped: skippedOf(plan),
        nextCursor: null,
        waiting: submitted,
      }
      const none = { accepted: 0, refused: 0, requests: [], orderedAt: new Date(0) }
      fake.orders.set(orderId, { ...none, ...counts, orderId, org, bodySha256 })
    },
    findOrder: async (org, orderId) => {
      const order = fake.orders.get(orderId)
      return order?.org === org ? order : undefined
    },
  }
  return fake
}
