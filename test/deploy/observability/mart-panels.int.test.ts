import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { marts } from '#schemas/marts/all.js'
import { martDashboard, organisationsQuery } from '../../../deploy/observability/mart-panels.js'
import { createSegmentKeeper } from '../../../services/sink/keep-segments.js'
import { fill, smallWorld } from '../../schemas/marts/small-world.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const org = randomUUID()

beforeAll(async () => {
  await makeTables(clickhouse)
  await fill(clickhouse, org, smallWorld)
  await createSegmentKeeper(clickhouse).countNamed()
})
afterAll(() => clickhouse.close())

/** What Grafana and its plugin make of a query. */
const asAsked = (query: string): string =>
  query
    .replaceAll(`\${org:sqlstring}`, `'${org}'`)
    .replaceAll(/\$__dateFilter\((\w+)\)/g, "$1 >= toDate('2000-01-01') and $1 <= toDate('2100-01-01')")

it.each(martDashboard.panels)('draws "$title" from what ClickHouse answers', async ({ kind, mart, query }) => {
  expect(marts.map(({ name }) => name)).toContain(mart)
  const asked = asAsked(query)
  expect(asked).not.toContain('$')
  const rows = await clickhouse.query<Record<string, unknown>>(asked)
  if (mart !== 'refusals_by_day') expect(rows.length).toBeGreaterThan(0)
  const columns = await clickhouse.query<{ name: string; type: string }>(`describe (${asked})`)
  if (kind !== 'lines') return
  expect(columns[0]).toMatchObject({ name: 'time', type: expect.stringContaining('DateTime') })
  expect(columns.at(-1)?.type).toMatch(/^(UInt64|Decimal)/)
})

it('lets the organisation be chosen', async () => {
  expect(await clickhouse.query(organisationsQuery)).toContainEqual({ org_id: org })
})
