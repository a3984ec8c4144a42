import { expect, it } from 'vitest'
import { currentView, logTable } from '#schemas/derive/clickhouse.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'

it('derives a log table that keeps the highest version of an id', () => {
  expect(logTable(shop)).toBe(`create table if not exists weir.shops_log (
  org_id LowCardinality(String),
  request_id UUID,
  batch_id UUID,
  accepted_at DateTime64(3, 'UTC'),
  version UInt64,
  \`shop_id\` UUID,
  \`name\` String,
  \`region\` LowCardinality(String),
  \`is_public\` Nullable(Bool),
  \`created\` Nullable(DateTime64(3, 'UTC')),
  \`updated\` Nullable(DateTime64(3, 'UTC')),
  \`is_deleted\` Nullable(Bool)
) engine = ReplacingMergeTree(version)
order by (org_id, shop_id)`)
})

it('makes the same table under another name, to be filled beside the first', () => {
  const named = logTable(shop, 'shops_log_rebuilt')
  expect(named.replace('weir.shops_log_rebuilt (', 'weir.shops_log (')).toBe(logTable(shop))
  expect(named).not.toBe(logTable(shop))
})

it('derives a view of what is current and not deleted', () => {
  expect(currentView(shop)).toBe(`create or replace view weir.shops sql security invoker as
select org_id, \`shop_id\`, \`name\`, \`region\`, \`is_public\`, \`created\`, \`updated\`, \`is_deleted\`
from weir.shops_log final
where not ifNull(is_deleted, false)`)
})

it('orders interactions by their time, for reading the newest first', () => {
  expect(logTable(interaction)).toContain('order by (org_id, event_timestamp, interaction_id)')
  expect(currentView(interaction)).not.toContain('where')
})
