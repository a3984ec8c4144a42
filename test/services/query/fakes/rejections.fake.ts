import type { StoredOrder } from '#ledger/retries/orders.js'
import { type KnownRejection, sampleOf, skippedOf } from '#query/rejections/answers.js'
import type { AskedRejections, OwnRejections } from '#query/rejections/rejections.js'
import type { AskedState } from '#rejections/in-state.js'
import type { RetryPlan } from '#rejections/plan-retry.js'
import type { QualityDay } from '#rejections/quality.js'
import type { RejectionGroup } from '#rejections/summary.js'
import { catalogue } from '#schemas/catalogue.js'
import { createValidator } from '#schemas/derive/validator.js'

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

const recordType = (name: string) => {
  const type = catalogue.all.get(name)
  if (!type) throw new Error(`there is no type ${name}`)
  return type
}

/** The rules of the real one, over arrays: an organisation's own, newest first; each rejection ordered once. */
export const createFakeRejections = (): FakeRejections => {
  const isIn = (state: string, asked: AskedState) =>
    state === asked || (asked === 'resolved' && (state === 'accepted_since' || state === 'overtaken'))
  const ofOrg = (org: string, { filter, state }: AskedRejections) =>
    fake.rows
      .filter((row) => row.org === org && (filter.type === undefined || row.type === filter.type))
      .filter((row) => state === undefined || isIn(row.state, state))
      .sort((a, b) => b.rejectedAt.getTime() - a.rejectedAt.getTime() || a.index - b.index)
  const fake: FakeRejections = {
    rows: [],
    days: [],
    orders: new Map(),
    waiting: 0,
    next: undefined,
    asked: undefined,
    before: async () => {},
    list: async (org, { after, limit, ...asked }) => {
      await fake.before()
      const all = ofOrg(org, asked)
      const from = after
        ? all.findIndex(({ batchId, index }) => batchId === after.batchId && index === after.index) + 1
        : 0
      return { rejections: all.slice(from, from + limit), isLast: from + limit >= all.length }
    },
    groups: async (org, asked, most) => {
      await fake.before()
      const groups = new Map<string, RejectionGroup>()
      for (const row of ofOrg(org, asked)) {
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
      const countOf = (state: AskedState) => ofOrg(org, { filter: asked.filter, state }).length
      const states = { open: countOf('open'), retried: countOf('retried'), resolved: countOf('resolved') }
      return { groups: [...groups.values()].slice(0, most), states }
    },
    values: async (org, field, asked, most) => {
      const counts = new Map<string, number>()
      for (const { record } of ofOrg(org, asked)) {
        const value = JSON.stringify(JSON.parse(record)[field] ?? null)
        counts.set(value, (counts.get(value) ?? 0) + 1)
      }
      return [...counts].map(([value, rows]) => ({ value, rows })).slice(0, most)
    },
    samples: async (_, plan, change) =>
      plan.jobs.flatMap(({ wanted }) =>
        wanted.map((one) =>
          sampleOf(one, (one as KnownRejection).record, change, createValidator(recordType(plan.jobs[0]?.type ?? ''))),
        ),
      ),
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
      const all = ofOrg(org, { filter })
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
