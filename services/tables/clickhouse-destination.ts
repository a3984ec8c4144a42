import type { ClickHouse } from '#platform/clickhouse.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import * as names from '#schemas/derive/names.js'
import { hasVersions } from '#schemas/record.js'
import type { Destination, Feed } from './destination.js'
import { findExpiredVersions, pruneHistory } from './history.js'
import { findExpiredDays, pruneDays } from './kept-days.js'
import { createTableFeed } from './table-feed.js'
import type { Insert } from './table-writer.js'

export const createClickHouseDestination = (deps: {
  catalogue: Catalogue
  clickhouse: ClickHouse
  insert?: Insert
  onFailed?: (topic: string) => void
}): Destination => {
  const { catalogue, clickhouse, insert = clickhouse.insertAvro } = deps
  return {
    openFeeds: async (registry) => {
      const schemas = schemasByTopic(catalogue.all.values())
      const open = async (topic: string, table: string, ...fed: string[]): Promise<[string, Feed]> => {
        const schema = schemas.get(topic) as { namespace: string; name: string }
        await registry.prepare(names.subjectOf(topic), schema)
        const tables = [qualified(table), ...fed.map(qualified)] as const
        const onFailed = () => deps.onFailed?.(topic)
        return [topic, createTableFeed({ schema, tables, registry, clickhouse, insert, onFailed })]
      }
      const ofRecords = [...catalogue.all.values()].map((type) =>
        open(
          names.acceptedTopic(type.type),
          names.logTableOf(type.type),
          ...(hasVersions(type) ? [names.currentTableOf(type.type)] : []),
        ),
      )
      const others = [open(names.rejectedTopic, names.rejectionsLog), open(names.waitingTopic, names.waitingLog)]
      return new Map(await Promise.all([...ofRecords, ...others]))
    },
    countExpired: async ({ rejections, history }) => ({
      rejections: rejections ? rowsIn(await findExpiredDays(clickhouse, 'rejections', rejections)) : 0,
      waiting_rows: rejections ? rowsIn(await findExpiredDays(clickhouse, 'waiting', rejections)) : 0,
      versions: history ? rowsIn(await findExpiredVersions(clickhouse, catalogue, history)) : 0,
    }),
    prune: async ({ rejections, history }, { signal, onRows } = {}) => {
      const onStep = ({ rows }: { rows: number }): void => onRows?.(rows)
      const options = { onDay: onStep, onType: onStep, ...(signal && { signal }) }
      return {
        rejections: rejections ? await pruneDays(clickhouse, 'rejections', rejections, options) : 0,
        waiting_rows: rejections ? await pruneDays(clickhouse, 'waiting', rejections, options) : 0,
        versions: history ? await pruneHistory(clickhouse, catalogue, history, options) : 0,
      }
    },
    time: async () => {
      const [found] = await clickhouse.query<{ now: string }>('select toUnixTimestamp64Milli(now64(3)) as now')
      return Number(found?.now)
    },
    ping: clickhouse.ping,
  }
}

const qualified = (table: string): string => `${names.database}.${table}`

const rowsIn = (expired: readonly { rows: number }[]): number => expired.reduce((sum, { rows }) => sum + rows, 0)
