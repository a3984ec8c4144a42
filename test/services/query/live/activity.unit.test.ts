import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bucketMs, bucketsShown, createActivity } from '#query/live/activity.js'
import type { VerdictEvent } from '#schemas/events.js'

type Batch = {
  batch: number
  org: string
  at: number
  type: string
  accepted: number
  refused: number
  waiting?: number
}

const start = Date.UTC(2026, 0, 1)
const eventOf = ({ batch, org, at, type, accepted, refused, waiting = 0 }: Batch) =>
  ({
    batch_id: `b${batch}`,
    org_id: org,
    decided_at: at,
    type,
    accepted,
    refused: Array.from({ length: refused }, () => ({})),
    ...(waiting > 0 && { waiting: Array.from({ length: waiting }, () => ({})) }),
  }) as unknown as VerdictEvent

/** Postgres: knows every batch that was decided by now, each once. */
const historyOf = (stored: () => Batch[]) => ({
  count: async (org: string, { from, until }: { from: Date; until: Date }) =>
    stored()
      .filter((one) => one.org === org && one.at >= from.getTime() && one.at < until.getTime())
      .map(({ at, waiting = 0, ...one }) => ({ ...one, waiting, at: new Date(at) })),
  since: async (org: string, since: Date) =>
    stored()
      .filter((one) => one.org === org && one.at >= since.getTime())
      .map(({ at, batch, waiting = 0, ...one }) => ({ ...one, waiting, batchId: `b${batch}`, at: new Date(at) })),
})

it('shows each batch of the last 15 minutes once, whether stored, published, or both, and only of its organisation', async () => {
  const batch = fc.record({
    org: fc.constantFrom('acme', 'other'),
    age: fc.integer({ min: 0, max: 1_000_000 }),
    type: fc.constantFrom('shops', 'interactions'),
    accepted: fc.integer({ min: 0, max: 500 }),
    refused: fc.integer({ min: 0, max: 3 }),
    waiting: fc.integer({ min: 0, max: 3 }),
    /** Before somebody watches, while the history is read, or after that; or never, because the topic lost it. */
    published: fc.constantFrom('before', 'meanwhile', 'after', 'twice'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { maxLength: 30 }), async (given) => {
      const all = given.map((one, i) => ({ ...one, batch: i, at: start - one.age }))
      // What is published later than 10 s after it was decided was stored long before.
      const isStored = (one: (typeof all)[number]) => one.published !== 'after' || one.age > 10_000
      const activity = createActivity({
        history: historyOf(() => all.filter(isStored)),
        interactionType: 'interactions',
        now: () => start,
      })
      const publish = (...when: string[]) => {
        for (const one of all) if (when.includes(one.published)) activity.note(eventOf(one))
      }
      publish('before', 'twice')
      const opening = activity.watch('acme')
      publish('meanwhile', 'twice')
      const watch = await opening
      publish('after', 'twice')
      const from = watch.current() - (bucketsShown - 1) * bucketMs
      for (let bucket = from; bucket <= watch.current(); bucket += bucketMs) {
        const inside = all.filter(({ org, at }) => org === 'acme' && at >= bucket && at < bucket + bucketMs)
        const sum = (wanted: typeof all, count: 'accepted' | 'refused' | 'waiting') =>
          wanted.reduce((n, one) => n + one[count], 0)
        const [interactions, uploads] = [true, false].map((wanted) =>
          inside.filter(({ type }) => (type === 'interactions') === wanted),
        )
        expect(watch.at(bucket)).toEqual({
          accepted: sum(uploads ?? [], 'accepted'),
          interactions: sum(interactions ?? [], 'accepted'),
          refused: sum(inside, 'refused'),
          waiting: sum(inside, 'waiting'),
        })
      }
    }),
  )
})

it('keeps nothing of an organisation that nobody watches, and asks again after a history that could not be read', async () => {
  let asked = 0
  let isAway = true
  const activity = createActivity({
    history: {
      count: async () => {
        asked++
        if (isAway) throw new Error('away')
        return []
      },
      since: async () => [],
    },
    interactionType: 'interactions',
    now: () => start,
  })
  await expect(activity.watch('acme')).rejects.toThrow('away')
  isAway = false
  const [one, two] = [await activity.watch('acme'), await activity.watch('acme')]
  expect(asked).toBe(2)
  one.leave()
  one.leave()
  activity.note(eventOf({ batch: 1, org: 'acme', at: start, type: 'shops', accepted: 4, refused: 0 }))
  expect(two.at(two.current()).accepted).toBe(4)
  two.leave()
  const later = await activity.watch('acme')
  expect([asked, later.at(later.current()).accepted]).toEqual([3, 0])
})

it('counts records that go on waiting after a look at them no second time', async () => {
  const activity = createActivity({ history: historyOf(() => []), interactionType: 'interactions', now: () => start })
  const watch = await activity.watch('acme')
  const batch = { org: 'acme', at: start, type: 'shops', accepted: 0, refused: 0, waiting: 2 }
  activity.note({ ...eventOf({ ...batch, batch: 1 }), request_id: 'r1' })
  activity.note({ ...eventOf({ ...batch, batch: 2, accepted: 1, waiting: 1 }), request_id: 'b2' })
  expect(watch.at(watch.current())).toMatchObject({ waiting: 2, accepted: 1 })
})
