import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { clickhouseSql } from '#schemas/derive/clickhouse.js'
import { OperatorError } from '../desk/operator-error.js'
import { persist } from '../desk/until.js'

export type TablesProvisioned = { statements: number }

/** Runs the catalogue's statements in their order: a view comes after its table. */
export const provisionTables = async (clickhouse: ClickHouse, catalogue: Catalogue): Promise<TablesProvisioned> => {
  const statements = clickhouseSql(catalogue)
  for (const statement of statements) await run(clickhouse, statement)
  return { statements: statements.length }
}

// ClickHouse replaces a view by exchanging two names: of two operators who do so at the same time, one can find the other's
// half done.
const run = (clickhouse: ClickHouse, statement: string): Promise<void> =>
  persist(
    () => clickhouse.command(statement),
    () => true,
    { every: 400, tries: 4 },
  ).catch((error: unknown) => {
    const [first = ''] = statement.split('\n')
    throw new OperatorError(`ClickHouse refuses "${first.replace(/ \($/, '')}": ${reasonOf(error)}`)
  })
