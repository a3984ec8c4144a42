import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { tablesSql, viewsSql } from '#schemas/derive/clickhouse.js'
import { database, logTableOf } from '#schemas/derive/names.js'
import { hasVersions } from '#schemas/record.js'
import { updateAnalysts } from '../access/analysts.js'
import { OperatorError } from '../desk/operator-error.js'
import { persist } from '../desk/until.js'

export type TablesProvisioned = {
  statements: number
  /** Users of one organisation each; undefined where the user of this provisioning may not look. */
  analysts: number | undefined
  /** Log tables of an older Weir, which keep only the newest version of each record. */
  outdated: string[]
}

/** Makes the tables, lets the analysts read them, and makes the views, which may read from a table that is new. */
export const provisionTables = async (clickhouse: ClickHouse, catalogue: Catalogue): Promise<TablesProvisioned> => {
  const [tables, views] = [tablesSql(catalogue), viewsSql(catalogue)]
  for (const statement of tables) await run(clickhouse, statement)
  const analysts = await updateAnalysts(clickhouse, catalogue)
  for (const statement of views) await run(clickhouse, statement)
  return { statements: tables.length + views.length, analysts, outdated: await findOutdated(clickhouse, catalogue) }
}

// The order of a table's rows cannot be altered.
const findOutdated = async (clickhouse: ClickHouse, catalogue: Catalogue): Promise<string[]> => {
  const logs = [...catalogue.all.values()].filter(hasVersions).map(({ type }) => logTableOf(type))
  const found = await clickhouse.query<{ name: string }>(
    `select name from system.tables
    where database = {database:String} and has({logs:Array(String)}, name) and not endsWith(sorting_key, ', version')`,
    { database, logs },
  )
  return found.map(({ name }) => name)
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
