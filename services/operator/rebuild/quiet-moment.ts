import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from '#platform/clickhouse.js'

const patience = 10_000

/**
 * Waits until nobody inserts into a table. ClickHouse shows the rows of an insert in the table itself a moment before it
 * shows them in the table that a view copies them to: whoever exchanged the two in that moment would take them away again.
 * Under a load that knows no pause this gives up, because the rows are read from the topic in any case.
 */
export const quietMoment = async (clickhouse: ClickHouse, table: string): Promise<void> => {
  for (const begun = Date.now(); Date.now() - begun < patience; ) {
    const running = await clickhouse.query(
      `select 1 from system.processes where query_kind = 'Insert' and position(query, {table:String}) > 0`,
      { table },
    )
    if (running.length === 0) return
    await sleep(10)
  }
}
