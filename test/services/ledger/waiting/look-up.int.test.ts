import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach, expect, it } from 'vitest'
import { listAudit } from '#ledger/audit.js'
import {
  cancelWaits,
  countMissing,
  countWaits,
  findMostMissed,
  findWaits,
  findWaitsOfRecord,
  type WaitFilter,
} from '#ledger/waiting/look-up.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { insertWait, type WaitRow } from '../../../support/waits.js'

const { pool } = await openMigratedDatabase()
const clear = () => pool.query('truncate integrity.waiting, integrity.waiting_for')
beforeEach(clear)

const missingIds = [randomUUID(), randomUUID(), randomUUID()]
const ids = Array.from({ length: 5 }, () => randomUUID())
const shopOf = (n: number) => ({ field: 'shop_id', type: 'shops', id: missingIds[n] ?? '' })
const tagOf = (n: number) => ({ field: 'tag_id', type: 'tags', id: missingIds[n] ?? '' })

/** Rows of two organisations and two types, each record waiting for one or two others; a third of them have ended. */
const anyRows = fc.uniqueArray(
  fc.record({
    org: fc.constantFrom('acme', 'other'),
    type: fc.constantFrom('offers', 'branches'),
    id: fc.nat(4),
    shop: fc.nat(2),
    tag: fc.option(fc.nat(2), { nil: null }),
    since: fc.nat(5),
    state: fc.constantFrom('waiting' as const, 'waiting' as const, 'cancelled' as const),
  }),
  { selector: ({ org, type, id }) => `${org}/${type}/${id}`, maxLength: 15 },
)
const anyFilter = fc.record({
  orgId: fc.constantFrom(undefined, 'acme'),
  type: fc.constantFrom(undefined, 'offers'),
  id: fc.constantFrom(undefined, ids[0]),
  missing: fc.constantFrom(undefined, shopOf(0), tagOf(1)),
})

it('finds, counts and cancels what a naive reader does', { timeout: 120_000 }, () =>
  fc.assert(
    fc.asyncProperty(anyRows, anyFilter, fc.integer({ min: 1, max: 4 }), async (given, filter: WaitFilter, limit) => {
      await clear()
      const rows: WaitRow[] = []
      for (const { shop, tag, since, id, ...row } of given) {
        const missing = [shopOf(shop), ...(tag === null ? [] : [tagOf(tag)])]
        rows.push(await insertWait(pool, { ...row, id: ids[id] ?? '', missing, since: new Date(since * 60_000) }))
      }
      const isMeant = ({ org, type, id, missing, state }: WaitRow) =>
        state === 'waiting' &&
        (filter.orgId ?? org) === org &&
        (filter.type ?? type) === type &&
        (filter.id ?? id) === id &&
        (!filter.missing || missing.some((each) => each.type === filter.missing?.type && each.id === filter.missing.id))
      const meant = rows.filter(isMeant)
      expect(await countWaits(pool, filter)).toBe(meant.length)

      // Page by page, as uploaders read it.
      const seen: string[] = []
      for (let after: { since: Date; batchId: string; place: number } | undefined; ; ) {
        const page = await findWaits(pool, filter, { after, limit })
        seen.push(...page.map(({ batchId }) => batchId))
        after = page.at(-1)
        if (page.length < limit) break
      }
      expect(seen.toSorted()).toEqual(meant.map(({ batchId }) => batchId).toSorted())

      const pairs = rows
        .filter(({ state, org }) => state === 'waiting' && (filter.orgId ?? org) === org)
        .flatMap(({ org, missing }) => missing.map(({ type, id }) => `${org}/${type}/${id}`))
      const counts = new Map(pairs.map((pair) => [pair, pairs.filter((each) => each === pair).length]))
      const found = await findMostMissed(pool, { orgId: filter.orgId }, 99)
      expect(new Map(found.map((each) => [`${each.orgId}/${each.type}/${each.id}`, each.waiting]))).toEqual(counts)
      expect(found.map(({ waiting }) => waiting)).toEqual([...counts.values()].toSorted((a, b) => b - a))
      const waiting = rows.filter(({ state, org }) => state === 'waiting' && (filter.orgId ?? org) === org).length
      expect(await countMissing(pool, { orgId: filter.orgId })).toEqual({ missing: counts.size, waiting })

      expect(await cancelWaits(pool, filter, limit)).toBe(Math.min(limit, meant.length))
      while ((await cancelWaits(pool, filter, limit)) > 0);
      expect(await countWaits(pool, filter)).toBe(0)
      const left = await pool.query(`select count(*) as count from integrity.waiting where state = 'waiting'`)
      expect(left.rows[0]?.count).toBe(rows.filter((row) => row.state === 'waiting' && !isMeant(row)).length)
      // Nothing is left behind that nobody waits for.
      const loose = await pool.query(`select from integrity.waiting_for f
        where not exists (select from integrity.waiting w where w.batch_id = f.batch_id and w.state = 'waiting')`)
      expect(loose.rowCount).toBe(0)
      const untold = await pool.query(`select count(*) as count from integrity.waiting where not is_told`)
      expect(untold.rows[0]?.count).toBe(meant.length)
    }),
    { numRuns: 40 },
  ),
)

it('notes each step of a request whose records wait no longer, and how many', async () => {
  for (const org of ['noted', 'noted', 'noted', 'noted-too']) await insertWait(pool, { id: randomUUID(), org })
  const by = { actor: 'k7f3a9c1', requestId: randomUUID() }
  for (const org of ['noted', 'noted-too']) while ((await cancelWaits(pool, { orgId: org }, 2, by)) > 0);
  const noted = async (org: string) =>
    (await listAudit(pool, org, { most: 9 })).map(({ action, subject, details, by, requestId }) => [
      ...[action, subject, details, by.actor, requestId],
    ])
  const of = (records: number) => ['waiting_cancelled', 'offers', { records }, by.actor, by.requestId]
  expect([await noted('noted'), await noted('noted-too')]).toEqual([[of(1), of(2)], [of(1)]])
})

it('shows what became of one record, the newest first', async () => {
  const [id = ''] = ids
  const at = (n: number) => new Date(Date.UTC(2026, 0, n))
  await insertWait(pool, { id, state: 'superseded', since: at(1) })
  await insertWait(pool, { id, since: at(2) })
  await insertWait(pool, { id, org: 'other', since: at(3) })
  await insertWait(pool, { id, type: 'branches' })
  const found = await findWaitsOfRecord(pool, { orgId: 'acme', type: 'offers', id }, 9)
  expect(found.map(({ state }) => state)).toEqual(['waiting', 'superseded'])
  expect(await findWaitsOfRecord(pool, { type: 'offers', id }, 9)).toHaveLength(3)
  expect(await findWaitsOfRecord(pool, { type: 'offers', id }, 1)).toHaveLength(1)
})
