import { expect, it } from 'vitest'
import { type Catalogue, catalogue } from '#schemas/catalogue.js'
import { createAnalystSql, dropAnalystSql, toAnalyst } from '#schemas/derive/analysts.js'
import { onCluster, oneServer } from '#schemas/derive/clickhouse/placement.js'
import { maskedViewsOf } from '#schemas/derive/clickhouse/relations.js'
import { clickhouseSql } from '#schemas/derive/clickhouse.js'
import { marts } from '#schemas/marts/all.js'
import { interaction } from '#schemas/records/interaction.js'
import { shopCategory } from '#schemas/records/shop-category.js'

const small: Catalogue = { ...catalogue, all: new Map([shopCategory, interaction].map((type) => [type.type, type])) }

const bounded =
  'readonly = 2, max_execution_time = 120 min 1 max 120, max_memory_usage = 4000000000 min 1 max 4000000000, ' +
  'max_memory_usage_for_user = 8000000000 min 1 max 8000000000, max_concurrent_queries_for_user = 10 min 1 max 10, ' +
  'max_bytes_before_external_group_by = 2000000000, max_bytes_before_external_sort = 2000000000'

// What marts are kept in, beside the records.
const kept = [
  'marts_kept',
  ...marts.flatMap(({ name, kept }) => (kept ? [`${name}_kept`] : [])),
  'own_segments_log',
  'own_members_log',
  'segment_sizes_log',
]
const notKept = marts.flatMap(({ name, kept }) => (kept ? [`${name}_not_kept`, `${name}_not_kept_if_any`] : []))
const policiesOn = (table: string): string =>
  `create row policy or replace \`analyst_acme-2_only\` on weir.${table} for select using org_id = 'acme-2' as restrictive to \`analyst_acme-2\`;
create row policy or replace \`analyst_acme-2_rows\` on weir.${table} for select using 1 as permissive to \`analyst_acme-2\`, current_user`

it('derives a user who reads one organisation and nothing else', () => {
  expect(createAnalystSql(small, 'acme-2', 'c0ffee').join(';\n')).toBe(
    `create user \`analyst_acme-2\` identified with sha256_hash by 'c0ffee' settings ${bounded};
create row policy or replace \`analyst_acme-2_only\` on weir.shop_categories_log for select using org_id = 'acme-2' as restrictive to \`analyst_acme-2\`;
create row policy or replace \`analyst_acme-2_rows\` on weir.shop_categories_log for select using 1 as permissive to \`analyst_acme-2\`, current_user;
create row policy or replace \`analyst_acme-2_only\` on weir.shop_categories_current for select using org_id = 'acme-2' as restrictive to \`analyst_acme-2\`;
create row policy or replace \`analyst_acme-2_rows\` on weir.shop_categories_current for select using 1 as permissive to \`analyst_acme-2\`, current_user;
create row policy or replace \`analyst_acme-2_only\` on weir.interactions_log for select using org_id = 'acme-2' as restrictive to \`analyst_acme-2\`;
create row policy or replace \`analyst_acme-2_rows\` on weir.interactions_log for select using 1 as permissive to \`analyst_acme-2\`, current_user;
create row policy or replace \`analyst_acme-2_only\` on weir.rejections_log for select using org_id = 'acme-2' as restrictive to \`analyst_acme-2\`;
create row policy or replace \`analyst_acme-2_rows\` on weir.rejections_log for select using 1 as permissive to \`analyst_acme-2\`, current_user;
create row policy or replace \`analyst_acme-2_only\` on weir.waiting_log for select using org_id = 'acme-2' as restrictive to \`analyst_acme-2\`;
create row policy or replace \`analyst_acme-2_rows\` on weir.waiting_log for select using 1 as permissive to \`analyst_acme-2\`, current_user;
${kept.map((name) => `${policiesOn(name)};\n`).join('')}grant select on weir.shop_categories to \`analyst_acme-2\`;
grant select on weir.shop_categories_history to \`analyst_acme-2\`;
grant select on weir.shop_categories_as_of to \`analyst_acme-2\`;
grant select on weir.interactions to \`analyst_acme-2\`;
grant select on weir.rejections to \`analyst_acme-2\`;
grant select on weir.waiting to \`analyst_acme-2\`;
grant select on weir.quality to \`analyst_acme-2\`;
${[...notKept, ...marts.map(({ name }) => name)].map((name) => `grant select on weir.${name} to \`analyst_acme-2\`;\n`).join('')}grant select on weir.shop_categories_log to \`analyst_acme-2\`;
grant select on weir.shop_categories_current to \`analyst_acme-2\`;
grant select on weir.interactions_log to \`analyst_acme-2\`;
grant select on weir.rejections_log to \`analyst_acme-2\`;
grant select on weir.waiting_log to \`analyst_acme-2\`${kept.map((name) => `;\ngrant select on weir.${name} to \`analyst_acme-2\``).join('')}`,
  )
})

it('derives what takes that user away', () => {
  expect(dropAnalystSql(small, 'acme-2').join(';\n')).toBe(
    `drop user if exists \`analyst_acme-2\`;
drop row policy if exists \`analyst_acme-2_only\` on weir.shop_categories_log;
drop row policy if exists \`analyst_acme-2_rows\` on weir.shop_categories_log;
drop row policy if exists \`analyst_acme-2_only\` on weir.shop_categories_current;
drop row policy if exists \`analyst_acme-2_rows\` on weir.shop_categories_current;
drop row policy if exists \`analyst_acme-2_only\` on weir.interactions_log;
drop row policy if exists \`analyst_acme-2_rows\` on weir.interactions_log;
drop row policy if exists \`analyst_acme-2_only\` on weir.rejections_log;
drop row policy if exists \`analyst_acme-2_rows\` on weir.rejections_log;
drop row policy if exists \`analyst_acme-2_only\` on weir.waiting_log;
drop row policy if exists \`analyst_acme-2_rows\` on weir.waiting_log${kept
      .flatMap((name) =>
        ['only', 'rows'].map((policy) => `;\ndrop row policy if exists \`analyst_acme-2_${policy}\` on weir.${name}`),
      )
      .join('')}`,
  )
})

it('has a restrictive policy on every table that the user may read, and a reader’s view of it', () => {
  const made = clickhouseSql(catalogue).filter((statement) => !statement.includes('weir_masked'))
  const tables = made
    .flatMap((statement) => /^create table if not exists (\S+)/.exec(statement)?.[1] ?? [])
    // Only the services read these.
    .filter((name) => !/^weir\.(changes|mask_salts|transactions_for_\w+)$/.test(name))
  const views = made
    .filter((statement) => statement.includes(' sql security invoker as\n'))
    .flatMap((statement) => /^create or replace view (\S+)/.exec(statement)?.[1] ?? [])
  expect(views).toHaveLength(made.filter((statement) => statement.startsWith('create or replace view')).length)
  const sql = createAnalystSql(catalogue, 'acme', 'c0ffee').join(';\n')
  const limited = [...sql.matchAll(/ on (\S+) for select using org_id = 'acme' as restrictive/g)].map(([, t]) => t)
  const granted = [...sql.matchAll(/^grant select on (\S+) to/gm)].map(([, name]) => name)
  expect(limited).toEqual(tables)
  // They hold no rows: the policies of what they read hold in them, too.
  const merged = made.flatMap(
    (statement) => /^create or replace table (\S+)[\s\S]*\n\) engine = Merge\(/.exec(statement)?.[1] ?? [],
  )
  expect(made.filter((statement) => statement.startsWith('create or replace table'))).toHaveLength(merged.length)
  expect(granted.sort()).toEqual([...tables, ...views, ...merged].sort())
})

it('derives a masked user, who reads the masked views alone, with a policy on each', () => {
  const sql = createAnalystSql(catalogue, 'acme-2', 'c0ffee', oneServer, true)
  expect(sql[0]).toBe(
    `create user \`analyst_acme-2_masked\` identified with sha256_hash by 'c0ffee' default database weir_masked settings ${bounded}, additional_table_filters const, additional_result_filter const, parallel_replicas_custom_key const`,
  )
  const views = clickhouseSql(catalogue).flatMap(
    (statement) => /^create or replace view (weir_masked\.\w+)/.exec(statement)?.[1] ?? [],
  )
  const user = 'to `analyst_acme-2_masked`'
  expect(sql.slice(1)).toEqual([
    ...views.flatMap((view) => [
      `create row policy or replace \`analyst_acme-2_masked_only\` on ${view} for select using org_id = 'acme-2' as restrictive ${user}`,
      `create row policy or replace \`analyst_acme-2_masked_rows\` on ${view} for select using 1 as permissive ${user}, current_user`,
    ]),
    ...views.map((view) => `grant select on ${view} ${user}`),
  ])
  expect(views.map((view) => view.replace('weir_masked.', ''))).toEqual(maskedViewsOf(catalogue))
  const dropped = dropAnalystSql(catalogue, 'acme-2', oneServer, true)
  expect(dropped[0]).toBe('drop user if exists `analyst_acme-2_masked`')
  expect(dropped).toHaveLength(1 + 2 * views.length)
  expect(['analyst_acme-2', 'analyst_acme-2_masked'].map(toAnalyst)).toEqual([
    { user: 'analyst_acme-2', org: 'acme-2', masked: false },
    { user: 'analyst_acme-2_masked', org: 'acme-2', masked: true },
  ])
})

it('makes an analyst on every server of a cluster, with policies on what holds the rows', () => {
  const sql = createAnalystSql(catalogue, 'acme', 'c0ffee', onCluster('main'))
  expect(sql[0]).toBe(
    `create user \`analyst_acme\` on cluster \`main\` identified with sha256_hash by 'c0ffee' settings ${bounded}, serialize_query_plan = 0 const, distributed_product_mode = 'global'`,
  )
  expect(sql).toContain(
    "create row policy or replace `analyst_acme_only` on weir.shops_log_local on cluster `main` for select using org_id = 'acme' as restrictive to `analyst_acme`",
  )
  expect(sql).toContain('grant on cluster `main` select on weir.shops_log_local to `analyst_acme`')
})
