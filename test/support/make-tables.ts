import type { ClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { provisionTables } from '../../services/operator/provision/tables.js'

/** The tables and views in a ClickHouse that test files share: the first of them makes them, which takes seconds. */
export const makeTables = (clickhouse: ClickHouse): Promise<unknown> =>
  provisionTables(clickhouse, catalogue, new Set(), { quick: true })
