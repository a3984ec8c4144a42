import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { findExpiredVersions, pruneHistory } from '#tables/history.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const org = `old-${randomUUID()}`
const [often, once] = [randomUUID(), randomUUID()]

// Far in the past, so that the other test files, which share this ClickHouse, lose nothing here.
const add = (id: string, version: number, day: string) =>
  clickhouse.command(
    `insert into weir.keywords_log (org_id, keyword_id, name, version, accepted_at)
    values ('${org}', '${id}', '${day}', ${version}, '${day} 12:00:00')`,
  )

beforeAll(async () => {
  await makeTables(clickhouse)
  for (const [index, day] of ['1971-01-01', '1971-01-02', '1971-01-03', '1971-01-04'].entries())
    await add(often, index + 1, day)
  // The sink may write a row twice.
  await add(often, 1, '1971-01-01')
  await add(once, 1, '1971-01-01')
})
afterAll(() => clickhouse.close())

const namesIn = async (from: string, id: string): Promise<string[]> => {
  const rows = await clickhouse.query<{ name: string }>(
    `select name from ${from} where org_id = {org:String} and keyword_id = {id:UUID} order by name`,
    { org, id },
  )
  return rows.map(({ name }) => name)
}

it('prunes versions that were replaced long ago, and keeps what a record was at every moment since', async () => {
  const before = new Date('1971-01-03T00:00:00Z')
  expect(await findExpiredVersions(clickhouse, catalogue, before)).toContainEqual({ type: 'keywords', rows: 1 })
  expect(await namesIn(`weir.keywords_as_of(at = '1971-01-03')`, often)).toEqual(['1971-01-02'])
  await pruneHistory(clickhouse, catalogue, before)
  expect(await namesIn('weir.keywords_history', often)).toEqual(['1971-01-02', '1971-01-03', '1971-01-04'])
  expect(await namesIn('weir.keywords_history', once)).toEqual(['1971-01-01'])
  expect(await namesIn(`weir.keywords_as_of(at = '1971-01-03')`, often)).toEqual(['1971-01-02'])
  expect(await namesIn('weir.keywords', often)).toEqual(['1971-01-04'])
  expect(await findExpiredVersions(clickhouse, catalogue, before)).toEqual([])
})

it('never prunes the newest version, however old it is', async () => {
  await pruneHistory(clickhouse, catalogue, new Date('1972-01-01T00:00:00Z'))
  expect(await namesIn('weir.keywords_history', often)).toEqual(['1971-01-04'])
  expect(await namesIn('weir.keywords_history', once)).toEqual(['1971-01-01'])
})
