import { changedBy, type Database, firstRow } from '#platform/postgres/rows.js'

// erasure.erasures.topic_configs: how topics were set before an erasure had them compacted, with one erasure of the run.

type TopicConfigs = Record<string, Record<string, string | null>>

export const findTopicConfigs = async (db: Database): Promise<TopicConfigs> =>
  (
    await firstRow<{ configs: TopicConfigs }>(
      db,
      'select topic_configs as configs from erasure.erasures where topic_configs is not null limit 1',
    )
  )?.configs ?? {}

/** In place of what was kept before; none where there are no topics. */
export const keepTopicConfigs = async (db: Database, erasureId: string, configs: TopicConfigs): Promise<void> => {
  await changedBy(db, 'update erasure.erasures set topic_configs = null where topic_configs is not null')
  if (Object.keys(configs).length > 0)
    await changedBy(db, 'update erasure.erasures set topic_configs = $2 where erasure_id = $1', [
      erasureId,
      JSON.stringify(configs),
    ])
}
