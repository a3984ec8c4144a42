import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { findExpiredDays, pruneDays } from '#tables/kept-days.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
// Far in the past, so that the other test files, which share this ClickHouse, find and lose nothing here.
const days = ['1971-01-01', '1971-01-02', '1971-01-03', '1971-01-04']
const org = `old-${randomUUID()}`

beforeAll(async () => {
  await makeTables(clickhouse)
  for (const day of days) {
    await clickhouse.command(`
      insert into weir.rejections_log
      select '${org}', generateUUIDv4(), generateUUIDv4(), toDateTime64('${day} 00:00:00', 3, 'UTC') + number * 3600, number,
        'offers', number, null, [(null, 'bad_format', 'no')], '{}', false
      from numbers(24)`)
  }
})
afterAll(() => clickhouse.close())

const kept = () =>
  clickhouse.query<{ day: string; rows: number }>(
    `select toString(toDate(rejected_at)) as day, toUInt32(count()) as rows
    from weir.rejections where org_id = {org:String} group by day order by day`,
    { org },
  )

it('prunes rejections day by day, and nothing that is young enough', async () => {
  const before = new Date('1971-01-03T00:00:00Z')
  expect(await findExpiredDays(clickhouse, 'rejections', before)).toEqual([
    { day: '1971-01-01', rows: 24 },
    { day: '1971-01-02', rows: 24 },
  ])
  const gone: string[] = []
  expect(await pruneDays(clickhouse, 'rejections', before, { onDay: ({ day }) => gone.push(day) })).toBe(48)
  expect(gone).toEqual(['1971-01-01', '1971-01-02'])
  expect(await kept()).toEqual([
    { day: '1971-01-03', rows: 24 },
    { day: '1971-01-04', rows: 24 },
  ])
  expect(await pruneDays(clickhouse, 'rejections', before)).toBe(0)
})

it('stops between two days when it is told to', async () => {
  const stopping = new AbortController()
  const pruning = pruneDays(clickhouse, 'rejections', new Date('1971-01-05T00:00:00Z'), {
    signal: stopping.signal,
    onDay: () => stopping.abort(),
  })
  await expect(pruning).rejects.toThrow('aborted')
  expect(await kept()).toEqual([{ day: '1971-01-04', rows: 24 }])
})

it('forgets records that waited with all of their changes, so that none of them seems to wait again', async () => {
  const batch = randomUUID()
  const change = (version: number, state: string, changedAt: string) => `insert into weir.waiting_log
    (org_id, type, id, since, until, request_id, batch_id, \`index\`, state, changed_at, version) values
    ('${org}', 'offers', '${batch}', '1971-02-01 00:00:00', '1971-02-02 12:00:00', '${batch}', '${batch}', 0, '${state}', '${changedAt}', ${version})`
  const shown = () => clickhouse.query('select state from weir.waiting_log final where org_id = {org:String}', { org })
  // Each in a part of its own, which ClickHouse need not have merged.
  await clickhouse.command(change(1, 'waiting', '1971-02-01 00:00:00'))
  await clickhouse.command(change(2, 'refused', '1971-02-03 00:00:00'))
  expect(await pruneDays(clickhouse, 'waiting', new Date('1971-02-02T00:00:00Z'))).toBe(0)
  expect(await shown()).toEqual([{ state: 'refused' }])
  expect(await pruneDays(clickhouse, 'waiting', new Date('1971-02-03T00:00:00Z'))).toBeGreaterThan(0)
  expect(await shown()).toEqual([])
})
