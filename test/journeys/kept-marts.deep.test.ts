import { randomUUID } from 'node:crypto'
import { afterAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { keptMarts, ofOrganisation } from '#schemas/derive/clickhouse/kept.js'
import { customer } from '#schemas/records/customer.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import { eventually } from '../support/eventually.js'
import { pidIn } from '../support/process-tree.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { createUploader } from '../support/system/uploader.js'
import { startWholeSystem } from '../support/system/whole-system.js'

// Every organisation counts as a large one: its marts are kept while it uploads, and the sink is killed.
const { system, stop } = await startWholeSystem({ env: { MARTS_KEPT_FROM: '1' } })
const clickhouse = createClickHouse(system.env.CLICKHOUSE_URL)
afterAll(async () => {
  await clickhouse.close()
  await stop()
})
const org = 'demo'
const uploader = createUploader(system.edgeUrl, system.demoKey)
const upload = async (type: string, records: object[]) =>
  eventually(async () => expect((await uploader.upload(type, records)).status).toBe(200), 60_000)

const shops = Array.from({ length: 3 }, () => sampleOf(shop, { is_deleted: false }))
const customers = Array.from({ length: 5 }, () =>
  sampleOf(customer, { is_deleted: false, institute_id: null, course_id: null }),
)
const oneOf = <T>(some: readonly T[]): T => some[Math.floor(Math.random() * some.length)] as T
const purchases = Array.from({ length: 200 }, () => randomUUID())
const purchaseOf = (id: string) =>
  sampleOf(transaction, {
    transaction_id: id,
    shop_id: oneOf(shops).shop_id,
    student_id: oneOf([null, ...customers.map(({ customer_id }) => customer_id)]),
    ...{ branch_id: null, offer_id: null, is_deleted: Math.random() < 0.1 },
    created: oneOf([null, `2026-0${1 + Math.floor(Math.random() * 9)}-01T12:00:00Z`]),
  })

/** Whether every mart that is kept shows what its query says. */
const settled = async (): Promise<void> => {
  const asOf = await clickhouse.query<{ mart: string }>(
    'select mart from weir.marts_as_of where org_id = {org:String}',
    { org },
  )
  expect(asOf.map(({ mart }) => mart).sort()).toEqual(keptMarts.map(({ name }) => name).sort())
  for (const mart of keptMarts) {
    const shown = await clickhouse.query(`select * from weir.${mart.name} where org_id = {org:String} order by all`, {
      org,
    })
    expect(shown, mart.name).toEqual(await clickhouse.query(`${ofOrganisation(mart, org)} order by all`))
  }
}

it('shows what is true a while after uploads, kills of the sink and a rebuild', async () => {
  await upload('shops', shops)
  await upload('customers', customers)
  await upload('transactions', purchases.map(purchaseOf))
  await eventually(settled, 120_000)
  for (let turn = 0; turn < 4; turn++) {
    process.kill(pidIn(system.dataDir, 'sink'), 'SIGKILL')
    await upload('transactions', purchases.slice(turn * 40, turn * 40 + 60).map(purchaseOf))
    await upload('customers', [{ ...oneOf(customers), region: oneOf(['GB', 'FR']) }])
    await new Promise((next) => setTimeout(next, 3_000))
  }
  await eventually(settled, 180_000)
  const rebuilt = await runWeir(['rebuild', 'analytics', '--type', 'transactions'], system.env)
  expect(rebuilt.exitCode, rebuilt.stderr).toBe(0)
  await upload('transactions', purchases.slice(0, 20).map(purchaseOf))
  await eventually(settled, 180_000)
})
