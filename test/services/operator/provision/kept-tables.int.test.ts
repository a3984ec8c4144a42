import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { provisionTables } from '../../../../services/operator/provision/tables.js'
import { type RunningEngine, startEngine } from '../../../deploy/embedded/clickhouse/running-engine.js'

// An engine of its own: others read these tables, and this test throws them away.

let engine: RunningEngine
let clickhouse: ClickHouse
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-kept-tables-'))
  engine = await startEngine(join(folder, 'clickhouse'))
  clickhouse = createClickHouse(engine.ownUrl)
})
afterAll(async () => {
  await clickhouse.close()
  await engine.kill('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

const tables = () =>
  clickhouse.query<{ name: string; made: string }>(
    `select name, engine_full as made from system.tables
    where database = 'weir' and name in ('sales_by_day_kept', 'cohorts_kept', 'funnel_kept') order by name`,
  )

it('makes kept rows of another order or other columns a new table, and leaves all others', async () => {
  await provisionTables(clickhouse, catalogue)
  const asDeclared = await tables()
  await clickhouse.command("insert into weir.cohorts_kept (org_id) values ('acme')")
  await clickhouse.command('alter table weir.funnel_kept add column another UInt8')
  await clickhouse.command('drop table weir.sales_by_day_kept')
  await clickhouse.command(
    'create table weir.sales_by_day_kept (org_id String, day Date32) engine = MergeTree order by (org_id, day)',
  )
  await provisionTables(clickhouse, catalogue)
  expect(await tables()).toEqual(asDeclared)
  expect(await clickhouse.query('select toUInt8(count()) as rows from weir.cohorts_kept')).toEqual([{ rows: 1 }])
  const another =
    "select name from system.columns where database = 'weir' and table = 'funnel_kept' and name = 'another'"
  expect(await clickhouse.query(another)).toEqual([])

  await clickhouse.command(
    'create table weir.like_before as weir.cohorts_kept engine = MergeTree order by (org_id, cohort)',
  )
  await clickhouse.command('exchange tables weir.like_before and weir.cohorts_kept')
  await provisionTables(clickhouse, catalogue)
  expect(await tables()).toEqual(asDeclared)
})
