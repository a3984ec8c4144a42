import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { claimRetries, rejectionName, settleRetries } from '#ledger/retries/claims.js'
import { boundedReader, createClickHouse } from '#platform/clickhouse.js'
import { hasValue } from '#rejections/filter.js'
import { countValues, findRejections, type RejectionPlace } from '#rejections/find-rejections.js'
import { type AskedState, countStates, findOutStates, inState, TooManyRetried } from '#rejections/in-state.js'
import { findOvertaken, hasCaughtUp, planRetries } from '#rejections/plan-retry.js'
import { findQuality } from '#rejections/quality.js'
import { findStates } from '#rejections/states.js'
import { findGroups } from '#rejections/summary.js'
import { catalogue } from '#schemas/catalogue.js'
import { makeTables } from '../../support/make-tables.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sharedParts } from '../../support/shared-parts.js'
import { sized } from '../../support/sized.js'
import { insertWait } from '../../support/waits.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const { pool } = await openMigratedDatabase(2)
const sources = { pool, clickhouse: boundedReader(clickhouse), catalogue }
beforeAll(() => makeTables(clickhouse))
afterAll(() => clickhouse.close())

type Refused = {
  type: string
  second: number
  batch: string
  index: number
  version: number
  id: string
  codes: string[]
}

const momentOf = (second: number): string =>
  new Date(Date.UTC(2026, 2, 1) + second * 1000).toISOString().replace('T', ' ').slice(0, 23)
const quoted = (text: string) => `'${text}'`

const insertRefused = (org: string, rows: readonly Refused[]) =>
  rows.length === 0
    ? undefined
    : clickhouse.command(
        `insert into weir.rejections_log values ${rows
          .map(({ type, second, batch, index, version, id, codes }) => {
            const problems = codes.map((code) => `('name', '${code}', 'no')`).join(', ')
            const facts = [org, batch, batch, momentOf(second)].map(quoted).join(', ')
            return `(${facts}, ${version}, '${type}', ${index}, '${id}', [${problems}], '{"n":${index}}', false)`
          })
          .join(', ')}`,
      )

const insertAccepted = (
  org: string,
  rows: readonly { second: number; batch: string; version: number; id: string }[],
) =>
  rows.length === 0
    ? undefined
    : clickhouse.command(`insert into weir.shops_log (org_id, request_id, batch_id, accepted_at, version, shop_id, name)
        values ${rows
          .map(({ second, batch, version, id }) => {
            const facts = [org, batch, batch, momentOf(second)].map(quoted).join(', ')
            return `(${facts}, ${version}, '${id}', 'x')`
          })
          .join(', ')}`)

type Waited = { batch: string; index: number; state: string; since: number; changed: number }

/** Each as it began to wait, and then as what became of it. */
const insertWaited = (org: string, rows: readonly Waited[]) =>
  rows.length === 0
    ? undefined
    : clickhouse.command(`insert into weir.waiting_log
        (org_id, type, id, since, until, request_id, batch_id, index, state, changed_at, version) values ${rows
          .flatMap(({ batch, index, state, since, changed }, i) => {
            const facts = [org, 'shops', batch, momentOf(since), momentOf(9 * day), batch, batch].map(quoted).join(', ')
            return [
              `(${facts}, ${index}, 'waiting', '${momentOf(since)}', ${i})`,
              ...(state === 'waiting' ? [] : [`(${facts}, ${index}, '${state}', '${momentOf(changed)}', ${1000 + i})`]),
            ]
          })
          .join(', ')}`)

const batches = Array.from({ length: 4 }, () => randomUUID())
const ids = Array.from({ length: 5 }, () => randomUUID())
const day = 86_400
/** Batches at offsets of the log; each was decided at one moment, and its rows are told apart by their places. */
const anyRows = fc.uniqueArray(
  fc.record({
    batch: fc.nat(3),
    index: fc.nat(5),
    isAccepted: fc.boolean(),
    id: fc.nat(4),
    codes: fc.uniqueArray(fc.constantFrom('bad_format', 'missing_field', 'out_of_range'), { minLength: 1 }),
    times: fc.integer({ min: 1, max: 3 }),
    /** Whether it waited first: its place in the log is then another message's, in which all begin with the first place. */
    hasWaited: fc.boolean(),
  }),
  { selector: ({ batch, index }) => `${batch}/${index}`, maxLength: 20 },
)
const anyWaited = fc.uniqueArray(
  fc.record({
    index: fc.nat(9),
    state: fc.constantFrom('waiting', 'accepted', 'refused', 'superseded', 'cancelled'),
    since: fc.nat(2 * day - 1),
    changed: fc.nat(2 * day - 1),
  }),
  { selector: ({ index }) => index, maxLength: 5 },
)

it('counts, groups and pages as a naive reader does, however often a row was written', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, anyWaited, fc.integer({ min: 1, max: 4 }), async (rows, waited, limit) => {
      const org = `org-${randomUUID()}`
      const placed = rows.map((row) => ({
        ...row,
        type: 'shops',
        // Two batches a day.
        second: row.batch * (day / 2),
        batch: batches[row.batch] ?? '',
        version: row.hasWaited ? (100 + row.batch * 10 + row.index) * 8192 : row.batch * 8192 + row.index,
        id: ids[row.id] ?? '',
      }))
      const refused = placed.filter(({ isAccepted }) => !isAccepted)
      const accepted = placed.filter(({ isAccepted }) => isAccepted)
      await insertWaited(
        org,
        waited.map((row) => ({ ...row, batch: batches[0] ?? '' })),
      )
      for (const round of [1, 2, 3]) {
        await insertRefused(
          org,
          refused.filter(({ times }) => times >= round),
        )
        await insertAccepted(
          org,
          accepted.filter(({ times }) => times >= round),
        )
      }

      const expected = refused
        .toSorted((a, b) => b.second - a.second || a.index - b.index)
        .map(({ batch, index }) => `${batch}/${index}`)
      const seen: string[] = []
      let after: RejectionPlace | undefined
      for (;;) {
        const page = await findRejections(clickhouse, { org, ...(after && { after }) }, limit)
        seen.push(...page.map(({ batchId, index }) => `${batchId}/${index}`))
        after = page.at(-1)
        if (page.length < limit) break
      }
      expect(seen).toEqual(expected)

      const groups = await findGroups(clickhouse, { org }, 100)
      const count = (code: string) => refused.filter((row) => row.codes.some((each) => each === code)).length
      const codes = ['bad_format', 'missing_field', 'out_of_range'].filter((code) => count(code) > 0)
      expect(Object.fromEntries(groups.map((group) => [group.code, group.count]))).toEqual(
        Object.fromEntries(codes.map((code) => [code, count(code)])),
      )
      for (const { code, sample } of groups) expect(sample?.problems.map((each) => each.code)).toContain(code)

      const days = await findQuality(clickhouse, org, { from: '2026-03-01', to: '2026-03-31' })
      const on = (list: { second: number }[], number: number) =>
        list.filter(({ second }) => Math.floor(second / day) === number).length
      const waiting = waited.filter(({ state }) => state === 'waiting').map(({ since }) => ({ second: since }))
      const undecided = waited
        .filter(({ state }) => state === 'superseded' || state === 'cancelled')
        .map(({ changed }) => ({ second: changed }))
      const all = [...placed, ...waiting, ...undecided]
      expect(
        days.map((each) => [each.day, each.received, each.accepted, each.refused, each.waiting, each.undecided]),
      ).toEqual(
        [1, 0]
          .filter((number) => on(all, number) > 0)
          .map((number) => [
            `2026-03-0${number + 1}`,
            ...[all, accepted, refused, waiting, undecided].map((list) => on(list, number)),
          ]),
      )
      for (const { accepted: some, last_accepted_at } of days) expect(last_accepted_at !== null).toBe(some > 0)

      const found = await findRejections(clickhouse, { org }, 100)
      const states = await findStates(sources, org, found)
      const newest = (list: typeof placed, id: string | null) =>
        Math.max(-1, ...list.filter((row) => row.id === id).map(({ version }) => version))
      expect(states.map(({ state }) => state)).toEqual(
        found.map(({ id, version }) => {
          if (newest(accepted, id) > version) return 'accepted_since'
          return newest(refused, id) > version ? 'overtaken' : 'open'
        }),
      )

      const claims = found.filter((_, i) => i % 3 === 0).map((one) => ({ ...one, retryId: randomUUID() }))
      await claimRetries(pool, claims)
      const now = await findStates(sources, org, found)
      const inStates = (...wanted: string[]) =>
        found.filter((_, i) => wanted.includes(now[i]?.state ?? '')).map(rejectionName)
      const expectedIn = {
        open: inStates('open'),
        retried: inStates('retried'),
        resolved: inStates('accepted_since', 'overtaken'),
        overtaken: inStates('overtaken'),
      }
      for (const [state, names] of Object.entries(expectedIn)) {
        const within = [inState(await findOutStates(sources, { org }), state as AskedState)]
        expect((await findRejections(clickhouse, { org, within }, 100)).map(rejectionName)).toEqual(names)
      }
      const { open, retried, resolved } = expectedIn
      expect(await countStates(clickhouse, await findOutStates(sources, { org }))).toEqual({
        ...{ open: open.length, retried: retried.length, resolved: resolved.length },
      })
      await pool.query('delete from integrity.retries where org_id = $1', [org])
    }),
    { numRuns: sized(4, 8) },
  )
})

it('knows what is open, however many were retried, and says where it cannot tell more', async () => {
  const org = `org-${randomUUID()}`
  const [older, newer] = [randomUUID(), randomUUID()]
  const row = { type: 'shops', codes: ['bad_format'] }
  const retriedIds = [randomUUID(), randomUUID(), randomUUID()]
  await insertRefused(org, [
    ...retriedIds.map((id, index) => ({ ...row, second: 0, batch: older, index, version: 8192 + index, id })),
    ...retriedIds.map((id, index) => ({ ...row, second: 9, batch: newer, index, version: 99 * 8192 + index, id })),
    { ...row, second: 0, batch: older, index: 7, version: 8199, id: '' },
  ])
  const rejectedAt = new Date(Date.UTC(2026, 2, 1))
  const claim = { retryId: randomUUID(), org, type: 'shops', batchId: older, rejectedAt }
  await claimRetries(pool, [
    ...retriedIds.map((id, index) => ({ ...claim, index, id })),
    { ...claim, index: 7, id: null },
  ])
  await pool.query(
    `update integrity.retries set outcome = 'refused', answered_at = now() - interval '1 day' where org_id = $1`,
    [org],
  )
  const openBy = async (most: number) => {
    const within = [inState(await findOutStates(sources, { org }, most), 'open')]
    return (await findRejections(clickhouse, { org, within }, 100)).map(({ batchId, index }) => [batchId, index])
  }
  const open = [0, 1, 2].map((index) => [newer, index])
  // All four are told to ClickHouse; only the one without an id is; not even that one can be.
  expect([await openBy(4), await openBy(1)]).toEqual([open, open])
  await expect(openBy(0)).rejects.toThrow(TooManyRetried)
  const countBy = async (most: number) => countStates(clickhouse, await findOutStates(sources, { org }, most))
  const few = await findOutStates(sources, { org }, 1)
  expect(() => inState(few, 'retried')).toThrow(TooManyRetried)
  expect(await countBy(4)).toEqual({ open: 3, retried: 4, resolved: 0 })
  expect(await countBy(1)).toEqual({ open: 3, retried: null, resolved: null })
  expect(await countBy(0)).toEqual({ open: null, retried: null, resolved: null })
})

it('finds records by the value of a field, however that is written, and counts the values', async () => {
  const org = `org-${randomUUID()}`
  const batch = randomUUID()
  const records = [
    '{"region":"UK"}',
    '{ "region" : "\\u0055K", "n": 1 }',
    '{"region":5.0}',
    '{"region":null}',
    '{"n":1}',
    '{"n":1e400}',
  ]
  const rows = records.map((record, index) => {
    const facts = [org, batch, batch, momentOf(0)].map(quoted).join(', ')
    const text = `'${record.replaceAll('\\', '\\\\')}'`
    return `(${facts}, ${index}, 'shops', ${index}, '', [('region', 'bad_format', 'no')], ${text}, false)`
  })
  await clickhouse.command(`insert into weir.rejections_log values ${rows.join(', ')}`)
  const indexesWith = async (value: unknown) => {
    const found = await findRejections(clickhouse, { org, within: [hasValue('region', value)] }, 9)
    return found.map(({ index }) => index)
  }
  expect(await Promise.all(['UK', 5, null, 'GB'].map(indexesWith))).toEqual([[0, 1], [2], [3, 4], []])
  const counted = await countValues(clickhouse, { org, field: 'region' }, 'region', 9)
  expect(counted).toEqual([
    { value: '"UK"', rows: 2 },
    { value: 'null', rows: 2 },
    { value: '5', rows: 1 },
  ])
})

it('plans no more than is wanted, and accounts for everything that matched', async () => {
  const org = `org-${randomUUID()}`
  const batch = randomUUID()
  const rows = Array.from({ length: 12 }, (_, index) => ({
    type: index < 6 ? 'shops' : 'tags',
    second: 0,
    batch,
    index,
    version: 8192 + index,
    id: randomUUID(),
    codes: ['bad_format'],
  }))
  await insertRefused(org, rows)
  await insertAccepted(org, [{ second: 9, batch: randomUUID(), version: 9_000_000, id: rows[0]?.id ?? '' }])
  const rejectedAt = new Date(Date.UTC(2026, 2, 1))
  const claim = { retryId: randomUUID(), org, type: 'shops', batchId: batch, rejectedAt }
  await claimRetries(pool, [{ ...claim, index: 1 }])

  const plan = await planRetries(sources, { org }, { evenSuperseded: false, limit: 5 })
  const sent = plan.jobs.flatMap(({ type, wanted }) => wanted.map(({ index }) => `${type} ${index}`))
  // What others refer to comes first, in the order of the log.
  expect(sent).toEqual(['shops 2', 'shops 3', 'shops 4', 'shops 5', 'tags 6'])
  expect(plan).toMatchObject({ matched: 12, superseded: 1, underWay: 1, alreadyRetried: 0, overLimit: 5 })
})

it('comes to everything by its place, however many of those before were retried or left out', async () => {
  const org = `org-${randomUUID()}`
  const batch = randomUUID()
  const rows = Array.from({ length: 20 }, (_, index) => ({
    ...{ type: index < 13 ? 'shops' : 'tags', second: 0, batch, index, version: 8192 + index, id: randomUUID() },
    codes: ['bad_format'],
  }))
  await insertRefused(org, rows)
  const claim = { org, batchId: batch, rejectedAt: new Date(Date.UTC(2026, 2, 1)) }
  const retried = [0, 1, 2, 3, 4, 5, 6, 14]
  await claimRetries(
    pool,
    retried.map((index) => ({ ...claim, retryId: randomUUID(), index, type: rows[index]?.type ?? '' })),
  )
  const indexesOf = ({ jobs }: Awaited<ReturnType<typeof planRetries>>) =>
    jobs.flatMap(({ wanted }) => wanted.map(({ index }) => index))

  // More are retried than are read at a time.
  const few = { lookedAt: 100, atOnce: 3 }
  const first = await planRetries(sources, { org }, { evenSuperseded: false, limit: 2 }, few)
  expect(indexesOf(first)).toEqual([7, 8])
  expect(first).toMatchObject({ matched: 20, underWay: 7, overLimit: 11, next: { type: 'shops', index: 8 } })

  for (const [limit, lookedAt] of [
    [2, 100],
    [6, 100],
    [100, 4],
    [100, 100],
  ] as const) {
    const sent: number[] = []
    let seen = 0
    let after: (typeof first)['next']
    do {
      const plan = await planRetries(sources, { org }, { evenSuperseded: false, limit, after }, { lookedAt, atOnce: 3 })
      expect(plan.matched).toBe(20 - seen)
      const own = indexesOf(plan)
      expect(own.length).toBeLessThanOrEqual(limit)
      expect(own.length + plan.underWay + plan.overLimit).toBe(plan.matched)
      sent.push(...own)
      seen += plan.matched - plan.overLimit
      after = plan.next
      expect(after === undefined).toBe(plan.overLimit === 0)
    } while (after)
    expect(sent).toEqual(rows.map(({ index }) => index).filter((index) => !retried.includes(index)))
  }
})

it('does not submit an older record again while a newer one of its id waits', async () => {
  const org = `org-${randomUUID()}`
  const batch = randomUUID()
  const [waits, free] = [randomUUID(), randomUUID()]
  const rows = [waits, free].map((id, index) => ({
    ...{ type: 'shops', second: 0, batch, index, version: 8192 + index, id, codes: ['bad_format'] },
  }))
  await insertRefused(org, rows)
  await insertWait(pool, { org, type: 'shops', id: waits })
  await insertWait(pool, { org, type: 'shops', id: free, state: 'cancelled' })
  const plan = await planRetries(sources, { org }, { evenSuperseded: false })
  expect(plan).toMatchObject({ matched: 2, superseded: 1 })
  expect(plan.jobs.flatMap(({ wanted }) => wanted.map(({ index }) => index))).toEqual([1])
  const wanted = [0, 1].map((index) => ({ batchId: batch, index, rejectedAt: new Date(Date.UTC(2026, 2, 1)) }))
  const request = { org, type: 'shops', orderId: null, retryId: randomUUID(), evenSuperseded: false, wanted }
  expect([...(await findOvertaken(sources, request))]).toEqual([`${batch}/0`])
})

it('sends the newer of two refused records of one id, though the order has just had the older one accepted', async () => {
  const org = `org-${randomUUID()}`
  const [older, newer, orderId, id] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const rejectedAt = new Date(Date.UTC(2026, 2, 1))
  const row = (batch: string, version: number) => ({
    ...{ type: 'shops', second: 0, batch, index: 0, version, id, codes: ['bad_format'] },
  })
  await insertRefused(org, [row(older, 8192), row(newer, 8193)])
  const claim = (batchId: string) => ({ retryId: uuidv7(), org, type: 'shops', batchId, index: 0, rejectedAt })
  const [first, second] = [claim(older), claim(newer)]
  await claimRetries(pool, [first, second], orderId)
  const overtakenIn = async (batchId: string, over = {}) => {
    const { retryId } = batchId === older ? first : second
    const wanted = [{ batchId, index: 0, rejectedAt }]
    const found = await findOvertaken(sources, {
      org,
      type: 'shops',
      orderId,
      retryId,
      evenSuperseded: false,
      wanted,
      ...over,
    })
    return found.size
  }
  // The batch is the request here.
  const accepted = randomUUID()
  await insertAccepted(org, [{ second: 9, batch: accepted, version: 9_000_000, id }])
  expect([await overtakenIn(older), await overtakenIn(newer)]).toEqual([1, 1])
  await settleRetries(pool, accepted, [{ batchId: older, index: 0, outcome: 'accepted' }])
  expect(await overtakenIn(newer)).toBe(0)
  // Of another order nothing is known of what is older: there it is overtaken.
  expect(await overtakenIn(newer, { orderId: randomUUID() })).toBe(1)
  expect(await overtakenIn(newer, { orderId: randomUUID(), evenSuperseded: true })).toBe(0)
  // A newer upload overtakes it, whatever the order had accepted before.
  await insertAccepted(org, [{ second: 10, batch: randomUUID(), version: 9_000_001, id }])
  expect(await overtakenIn(newer)).toBe(1)
})

it('is bounded: a question that would read too much is refused by ClickHouse itself', async () => {
  const query = boundedReader(clickhouse).query('select sum(number) from numbers(1000000000)')
  await expect(query).rejects.toMatchObject({ code: '158' })
})

it('shows the beginning of a long record as the sample of its group', async () => {
  const org = `org-${randomUUID()}`
  const text = `{"name":"${'é'.repeat(5000)}"}`
  await clickhouse.command(`insert into weir.rejections_log values ('${org}', '${randomUUID()}', '${randomUUID()}',
    '2026-03-01 00:00:00.000', 1, 'shops', 0, null, [(null, 'bad_format', 'no')], '${text}', false)`)
  const [group] = await findGroups(clickhouse, { org }, 9)
  expect(group?.sample).toMatchObject({ record: text.slice(0, 4096), truncated: true, id: null })
})

it('shows pages of bytes, and at least one record of any size', async () => {
  const org = `org-${randomUUID()}`
  const batch = randomUUID()
  const row = (index: number) => ({ type: 'shops', second: 0, batch, index, version: 8192 + index, id: '', codes: [] })
  await insertRefused(org, [0, 1, 2].map(row))
  expect(await findRejections(clickhouse, { org }, 9, 1)).toHaveLength(1)
  expect(await findRejections(clickhouse, { org }, 9, 8)).toHaveLength(2)
  expect(await findRejections(clickhouse, { org }, 9)).toHaveLength(3)
})

it('knows that ClickHouse has caught up also with what waited, whose events name the batch that it came in', async () => {
  const org = `org-${randomUUID()}`
  const [batch, resume] = [randomUUID(), randomUUID()]
  const hasIt = () => hasCaughtUp(sources, { org, type: 'shops' })
  const insert = (batchId: string, requestId: string, accepted: number, offset: number) =>
    pool.query(
      `insert into integrity.verdicts (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256, accepted,
        refused, repeated, decided_at, topic, partition, submitted_offset)
      values ($1, $2, $3, 'shops', 1, 1, 0, '', $4, '[]', '{}', now(), 'weir.submitted.shops', 0, $5)`,
      [batchId, org, requestId, accepted, offset],
    )
  const accept = (version: number) =>
    clickhouse.command(`insert into weir.shops_log (org_id, request_id, batch_id, accepted_at, version, shop_id, name)
      values ('${org}', '${batch}', '${batch}', now64(3), ${version}, '${randomUUID()}', 'x')`)
  expect(await hasIt()).toBe(true)
  await pool.query(
    `insert into integrity.cursors (topic, partition, next_offset) values ('weir.submitted.shops', 0, 9)`,
  )
  await insert(batch, randomUUID(), 1, 1)
  await accept(8192)
  expect(await hasIt()).toBe(true)
  // One of that batch waited, and is accepted in a batch that integrity has written itself.
  await insert(resume, resume, 1, 2)
  await insertWait(pool, { org, type: 'shops', batchId: batch, place: 1, state: 'accepted', changedAt: new Date() })
  expect(await hasIt()).toBe(false)
  await accept(16_384)
  expect(await hasIt()).toBe(true)
})
