import type { Log } from '#platform/health/log.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Config } from '../config.js'
import { alone } from '../desk/alone.js'
import { withLog } from '../desk/with-log.js'
import { withTables } from '../desk/with-tables.js'
import { rebuildTable, type TableRebuilt } from './rebuild-table.js'
import type { Table } from './tables.js'

/** New ClickHouse tables from the accepted and rejected topics, one after another, each swapped in as soon as it is full. */
export const rebuildAnalytics = (options: {
  config: Pick<Config, 'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL' | 'CLICKHOUSE_URL'>
  tables: readonly Table[]
  pool: Pool
  log: Log
  signal: AbortSignal
}): Promise<TableRebuilt[]> =>
  alone(options.pool, 'rebuild analytics', (stillAlone) =>
    withTables(options.config.CLICKHOUSE_URL, (clickhouse) =>
      withLog(options.config, options.log, async (parts) => {
        const { log, signal } = options
        const rebuilt: TableRebuilt[] = []
        for (const table of options.tables)
          rebuilt.push(await rebuildTable({ table, ...parts, clickhouse, log, stillAlone, signal }))
        return rebuilt
      }),
    ),
  )
