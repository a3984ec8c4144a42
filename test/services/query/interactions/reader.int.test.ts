import { randomUUID } from 'node:crypto'
import { afterAll } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import type { InteractionRow } from '#query/interactions/list-interactions.js'
import { createReadInteractions } from '#query/interactions/reader.js'
import { interaction } from '#schemas/records/interaction.js'
import { makeTables } from '../../../support/make-tables.js'
import { sharedParts } from '../../../support/shared-parts.js'
import { readInteractionsContract } from '../contracts/read-interactions.contract.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
// Nothing listens on port 1.
const away = createClickHouse('http://127.0.0.1:1')
afterAll(async () => {
  await clickhouse.close()
  await away.close()
})

readInteractionsContract(async () => {
  await makeTables(clickhouse)
  return {
    read: createReadInteractions(clickhouse, interaction),
    away: createReadInteractions(away, interaction),
    // Each row twice, in two blocks: the view shows it once.
    insert: async (orgId, rows) => {
      await clickhouse.command(insertion(orgId, rows))
      await clickhouse.command(insertion(orgId, rows))
    },
  }
})

const insertion = (orgId: string, rows: readonly InteractionRow[]): string => {
  const columns = Object.keys(rows[0] ?? {})
  const added = [orgId, randomUUID(), randomUUID(), '2026-01-01T00:00:00.000Z', '1']
  const values = rows.map((row) => `(${[...added, ...columns.map((name) => row[name])].map(literal).join(', ')})`)
  return `
    insert into weir.interactions_log (org_id, request_id, batch_id, accepted_at, version, ${columns.join(', ')})
    settings date_time_input_format = 'best_effort'
    values ${values.join(', ')}`
}

const literal = (value: unknown): string =>
  value === null ? 'null' : `'${String(value).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
