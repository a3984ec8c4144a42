import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AfterMissing, AfterWait, Wait } from '#ledger/waiting/look-up.js'
import type { OwnWaiting } from '#query/waiting/waiting.js'

export type OwnWaitingHarness = {
  waiting: OwnWaiting
  /** Stores records that wait or waited as integrity does. */
  store: (waits: readonly Wait[]) => Promise<void>
}

const start = Date.UTC(2026, 0, 1)

/** A record that waits; one number more is a millisecond later. */
export const waitOf = (i: number, missing: Wait['missing'], over: Partial<Wait> = {}): Wait => ({
  orgId: 'acme',
  type: 'offers',
  id: randomUUID(),
  requestId: randomUUID(),
  batchId: randomUUID(),
  place: i,
  index: 500 + i,
  state: 'waiting',
  missing,
  since: new Date(start + i),
  until: new Date(start + 60_000 - i),
  changedAt: new Date(start + i),
  problems: null,
  acceptedVersion: null,
  ...over,
})

/** What the edge relies on, of Postgres and of the fake alike. */
export const ownWaitingContract = (open: () => Promise<OwnWaitingHarness> | OwnWaitingHarness): void => {
  describe('the waiting records of an organisation', () => {
    let harness: OwnWaitingHarness
    const [near, far] = [randomUUID(), randomUUID()]
    const shop = (id: string) => ({ field: 'shop_id', type: 'shops', id })
    const tag = { field: 'tag_id', type: 'tags', id: near }
    const waits = [
      waitOf(0, [shop(far)]),
      ...[1, 2, 3, 4].map((i) => waitOf(i, [shop(near)])),
      waitOf(5, [shop(near), tag], { type: 'shop-tags' }),
      waitOf(6, [shop(near)], { state: 'accepted' }),
      waitOf(7, [shop(near)], { orgId: 'other' }),
    ]
    beforeAll(async () => {
      harness = await open()
      await harness.store(waits)
    })
    const nameOf = ({ type, id }: { type: string; id: string }) => `${type}/${id}`

    it('tells what is waited for, the oldest first, with some that wait for it', async () => {
      const { missing, waiting } = await harness.waiting.missing('acme', { limit: 10 })
      expect(waiting).toBe(6)
      expect(missing.map((one) => [nameOf(one), one.waiting, one.oldest, one.firstUntil])).toEqual([
        [`shops/${far}`, 1, waits[0]?.since, waits[0]?.until],
        [`shops/${near}`, 5, waits[1]?.since, waits[5]?.until],
        [`tags/${near}`, 1, waits[5]?.since, waits[5]?.until],
      ])
      const behind = new Set(waits.slice(1, 6).map(({ id }) => id))
      expect(missing[1]?.sample).toHaveLength(3)
      for (const { id } of missing[1]?.sample ?? []) expect(behind).toContain(id)
      const { id, requestId, index, until } = waits[5] as Wait
      const sample = { type: 'shop-tags', id, requestId, index, until, missing: [shop(near), tag] }
      expect(missing[2]?.sample).toEqual([expect.objectContaining(sample)])
      expect((await harness.waiting.missing('acme', { type: 'tags', limit: 10 })).missing).toHaveLength(1)
      expect(await harness.waiting.missing('nobody', { limit: 10 })).toEqual({ missing: [], waiting: 0 })
    })

    it('tells both page by page', async () => {
      const names: string[] = []
      for (let after: AfterMissing | undefined; ; ) {
        const { missing } = await harness.waiting.missing('acme', { limit: 1, after })
        if (!missing[0]) break
        names.push(nameOf(missing[0]))
        after = missing[0]
      }
      expect(names).toEqual([`shops/${far}`, `shops/${near}`, `tags/${near}`])
      const ids: string[] = []
      for (let after: AfterWait | undefined; ; ) {
        const page = await harness.waiting.records('acme', {}, { limit: 4, after })
        ids.push(...page.map(({ id }) => id))
        after = page.at(-1)
        if (!after) break
      }
      expect(ids).toEqual(waits.slice(0, 6).map(({ id }) => id))
    })

    it('finds records by type, by id and by what they wait for', async () => {
      const find = async (filter: Parameters<OwnWaiting['records']>[1]) =>
        (await harness.waiting.records('acme', filter, { limit: 10 })).map(({ place }) => place)
      expect(await find({ type: 'shop-tags' })).toEqual([5])
      expect(await find({ id: waits[2]?.id })).toEqual([2])
      expect(await find({ missing: { type: 'shops', id: near } })).toEqual([1, 2, 3, 4, 5])
      expect(await find({ type: 'offers', missing: { type: 'tags', id: near } })).toEqual([])
      expect(await find({ id: waits[6]?.id })).toEqual([])
      expect(await find({ id: waits[7]?.id })).toEqual([])
      expect(await harness.waiting.records('acme', { id: waits[3]?.id }, { limit: 1 })).toEqual([waits[3]])
    })

    it('has them wait no longer, so many at a time, and those of others go on', async () => {
      const near_ = { missing: { type: 'shops', id: near } }
      expect(await harness.waiting.cancel('acme', { type: 'offers', id: waits[2]?.id }, 10)).toBe(1)
      expect(await harness.waiting.cancel('acme', { type: 'offers', id: waits[2]?.id }, 10)).toBe(0)
      expect(await harness.waiting.cancel('acme', near_, 3)).toBe(3)
      expect(await harness.waiting.cancel('acme', near_, 3)).toBe(1)
      const { missing, waiting } = await harness.waiting.missing('acme', { limit: 10 })
      expect([missing.map(nameOf), waiting]).toEqual([[`shops/${far}`], 1])
      expect((await harness.waiting.missing('other', { limit: 10 })).waiting).toBe(1)
    })
  })
}
