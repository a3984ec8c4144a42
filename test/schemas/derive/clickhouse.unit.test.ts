import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { exactColumns, historyColumns, tableColumns, viewColumns } from '#schemas/derive/clickhouse/columns.js'
import { onCluster, oneServer } from '#schemas/derive/clickhouse/placement.js'
import {
  clickhouseSql,
  currentFeed,
  currentTable,
  currentView,
  logTable,
  tablesSql,
} from '#schemas/derive/clickhouse.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'

const withoutComments = (sql: string): string => sql.replace(/ comment '(?:[^'\\\\]|\\\\.)*'/g, '')

it('derives a log table that keeps each version of a record once', () => {
  expect(withoutComments(logTable(shop).join())).toBe(`create table if not exists weir.shops_log (
  \`org_id\` LowCardinality(String),
  \`request_id\` UUID,
  \`batch_id\` UUID,
  \`accepted_at\` DateTime64(3, 'UTC'),
  \`version\` UInt64,
  \`shop_id\` UUID,
  \`name\` String,
  \`region\` LowCardinality(String),
  \`is_public\` Nullable(Bool),
  \`created\` Nullable(DateTime64(3, 'UTC')),
  \`updated\` Nullable(DateTime64(3, 'UTC')),
  \`is_deleted\` Nullable(Bool)
) engine = ReplacingMergeTree
order by (org_id, shop_id, version)
comment 'shops: every version of every record, once. A shop that takes part.'`)
})

it('derives a table of the newest versions, with the same columns, that the log feeds', () => {
  const columns = (sql: string) => sql.slice(sql.indexOf('('), sql.indexOf(') engine'))
  expect(columns(currentTable(shop).join())).toBe(columns(logTable(shop).join()))
  expect(currentTable(shop).join()).toMatch(
    /\) engine = ReplacingMergeTree\(version\)\norder by \(org_id, shop_id\)\ncomment /,
  )
  expect(currentFeed(shop)).toContain('weir.shops_current_feed to weir.shops_current as\nselect `org_id`, ')
  expect(currentFeed(shop)).toMatch(/\nfrom weir\.shops_log\ncomment /)
})

it('makes the same table under another name, to be filled beside the first', () => {
  const [named = ''] = logTable(shop, oneServer, 'shops_log_rebuilt')
  expect([named.replace('weir.shops_log_rebuilt (', 'weir.shops_log (')]).toEqual(logTable(shop))
  expect([named]).not.toEqual(logTable(shop))
})

it('derives a view of what is current and not deleted', () => {
  const view = currentView(shop)
  expect(view).toMatch(/^create or replace view weir\.shops \(\n/)
  expect(view.slice(view.indexOf(') sql security'))).toBe(`) sql security invoker as
select \`org_id\`, \`shop_id\`, \`name\`, \`region\`, \`is_public\`, \`created\`, \`updated\`, ifNull(log.is_deleted, false) as is_deleted, \`accepted_at\`, \`version\`
from weir.shops_current as log final
where not ifNull(log.is_deleted, false)
comment 'A shop that takes part.'`)
})

it('keeps interactions, which never change, in the log alone, ordered by their time for reading the newest first', () => {
  expect(logTable(interaction).join()).toContain(
    'engine = ReplacingMergeTree(version)\norder by (org_id, event_timestamp, interaction_id)',
  )
  expect(currentView(interaction)).toMatch(/from weir\.interactions_log as log final\ncomment /)
  expect(clickhouseSql(catalogue).join()).not.toMatch(/interactions_(current|history|as_of)/)
})

it('tells what every column means', () => {
  const columns = [...catalogue.all.values()].flatMap((type) =>
    [tableColumns, viewColumns, historyColumns].flatMap((of) =>
      of(type).map(({ name, comment }) => ({ column: `${type.type}.${name}`, comment })),
    ),
  )
  expect(columns.filter(({ comment }) => comment === '')).toEqual([])
})

it('tells what every table and view is for', () => {
  const made = clickhouseSql(catalogue).filter((statement) => / (table|view) /.test(statement.split('(')[0] ?? ''))
  const makes = made.filter((statement) => statement.startsWith('create'))
  expect(makes.filter((statement) => !/\ncomment '[^\n]+'$/.test(statement))).toEqual([])
})

it('has an exact number beside each one that is summed', () => {
  const names = [...catalogue.all.values()].flatMap((type) => exactColumns(type).map(({ name }) => name))
  expect(names.sort()).toEqual(['amount_exact', 'discount_value_exact', 'savings_exact', 'value_exact'])
})

it('takes over the rows of an older Weir before any view reads from the new table', () => {
  const tables = tablesSql(catalogue)
  expect(tables.filter((statement) => statement.startsWith('insert into')).length).toBe(catalogue.uploads.size)
  expect(tables.filter((statement) => /^create (or replace )?view/.test(statement))).toEqual([])
})

it('derives for a cluster a replicated table on each shard, and one of its name that spreads the rows by organisation', () => {
  const [stored = '', front = ''] = logTable(shop, onCluster('main'))
  expect(withoutComments(stored)).toBe(
    withoutComments(logTable(shop).join())
      .replace('weir.shops_log (', 'weir.shops_log_local on cluster `main` (')
      .replace(
        'ReplacingMergeTree',
        "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/weir/shops_log/first', '{replica}')",
      ),
  )
  expect(front).toBe(`create table if not exists weir.shops_log on cluster \`main\` as weir.shops_log_local
engine = Distributed(\`main\`, weir, shops_log_local, cityHash64(org_id))
comment 'shops: every version of every record, once. A shop that takes part.'`)
  expect(currentTable(shop, onCluster('main')).join()).toContain("/weir/shops_current/first', '{replica}', version)")
})

it('feeds and alters on a cluster what holds the rows, and shows the same views', () => {
  const onMain = clickhouseSql(catalogue, onCluster('main'))
  expect(onMain.join('\n')).toContain(
    'weir.shops_current_feed on cluster `main` to weir.shops_current_local as\nselect',
  )
  expect(onMain.filter((statement) => !statement.split('\n')[0]?.includes(' on cluster `main`'))).toEqual([])
  const viewsOf = (statements: readonly string[]) =>
    statements
      .filter((each) => each.startsWith('create or replace view weir.'))
      .map((each) => each.replace(' on cluster `main`', ''))
  expect(viewsOf(onMain)).toEqual(viewsOf(clickhouseSql(catalogue)))
})
