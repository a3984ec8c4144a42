import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { clickhouseSql } from '#schemas/derive/clickhouse.js'
import { OperatorError } from '../desk/operator-error.js'

export type TablesProvisioned = { statements: number }

const tries = 4

/** Runs the catalogue's statements in their order: a view comes after its table. */
export const provisionTables = async (clickhouse: ClickHouse, catalogue: Catalogue): Promise<TablesProvisioned> => {
  const statements = clickhouseSql(catalogue)
  for (const statement of statements) await run(clickhouse, statement)
  return { statements: statements.length }
}

// ClickHouse replaces a view by exchanging two names: of two starters at the same view, one can find the other's half.
const run = async (clickhouse: ClickHouse, statement: string): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await clickhouse.command(statement)
    } catch (error) {
      const [first = ''] = statement.split('\n')
      if (attempt === tries)
        throw new OperatorError(`ClickHouse refuses "${first.replace(/ \($/, '')}": ${reasonOf(error)}`)
      await sleep(200 * attempt)
    }
  }
}
