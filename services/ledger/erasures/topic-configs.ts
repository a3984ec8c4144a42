import type { KeptConfigs, TopicConfigs } from '#platform/kafka/admin/removal.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { changedBy, firstRow } from '#platform/postgres/rows.js'

// erasure.topic_configs: how topics were set before they were compacted, so that they are set so again after a crash too.

export const keptConfigs = (pool: Pool): KeptConfigs => ({
  load: async () =>
    (await firstRow<{ configs: TopicConfigs }>(pool, 'select configs from erasure.topic_configs'))?.configs ?? {},
  keep: async (configs) => {
    await changedBy(
      pool,
      `insert into erasure.topic_configs (configs) values ($1) on conflict (is_only) do update set configs = excluded.configs`,
      [JSON.stringify(configs)],
    )
  },
})
