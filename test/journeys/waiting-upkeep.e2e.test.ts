import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { findWaitsOfBatches } from '#ledger/waiting/look-up.js'
import { createPool } from '#platform/postgres/postgres.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { branch } from '#schemas/records/branch.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { kill, pidOf } from '../support/system/processes.js'
import { submitWaiting } from '../support/system/submit-waiting.js'
import { analyst, newOrganisation, operate, system } from '../support/system/system.js'

// What operators do while records wait: they look, cancel, verify, rebuild and retry.

const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 2)
afterAll(() => pool.end())

const untilStates = (batch: SubmittedBatch, expected: string[]): Promise<void> =>
  eventually(async () => {
    const waits = await findWaitsOfBatches(pool, [batch.batch_id])
    expect(waits.map(({ state }) => state)).toEqual(expected)
  })
const branchOf = (over = {}) => sampleOf(branch, { is_deleted: false, ...over })
const shopOf = (shop_id: unknown, over = {}) => sampleOf(shop, { shop_id, is_deleted: false, ...over })
const shownOf = async (org: string): Promise<string[]> => {
  const query = 'select toString(branch_id) as id from weir.branches where org_id = {org:String} order by id'
  return (await analyst.query<{ id: string }>(query, { org })).map(({ id }) => id)
}

type Verified = {
  is_clean: boolean
  types: { type: string; [count: string]: unknown }[]
  differences: unknown[]
}
/** What verify counts of the branches of one organisation, once everything has arrived and nothing differs. */
const verified = (org: string, counts: Record<string, number>) =>
  eventually(async () => {
    const found = await operate<Verified>(['verify', '--org', org])
    expect(found.differences).toEqual([])
    expect(found.is_clean).toBe(true)
    expect(found.types.find(({ type }) => type === 'branches')).toMatchObject({ in_flight: 0, ...counts })
  })

it('sees and cancels what waits, and finds log, topics and tables in agreement whatever becomes of it', async () => {
  const { name: org, uploader } = await newOrganisation('upkeep')
  const [soon, deleted, never, unwanted, changed] = Array.from({ length: 5 }, () => branchOf())
  const batch = await submitWaiting(
    system.env,
    org,
    branch,
    [soon, deleted, unwanted, changed].map((each) => each ?? {}),
  )
  await untilStates(batch, Array(4).fill('waiting'))
  await verified(org, { records: 4, accepted: 0, waiting_for_references: 4, decided_anew: 0 })
  const listed = await operate<{ missing: number; waiting: number }>(['waiting', 'list', '--org', org])
  expect(listed).toMatchObject({ missing: 4, waiting: 4 })

  const late = await submitWaiting(system.env, org, branch, [never ?? {}], 8_000)
  const cancel = ['waiting', 'cancel', '--missing', `shops/${unwanted?.shop_id}`, '--org', org, '--yes']
  expect(await operate(cancel)).toEqual({ cancelled: 1, left: 0 })
  const newer = await submitWaiting(system.env, org, branch, [{ ...changed, name: 'newer' }])
  await untilStates(newer, ['waiting'])
  // A shop that is deleted is still there to be referred to.
  const shops = [soon, changed, unwanted].map((each) => shopOf(each?.shop_id))
  const uploaded = await uploader.upload('shops', [...shops, shopOf(deleted?.shop_id, { is_deleted: true })])
  expect(uploaded.status).toBe(200)
  await untilStates(batch, ['accepted', 'accepted', 'cancelled', 'superseded'])
  await untilStates(newer, ['accepted'])
  await untilStates(late, ['refused'])
  const accepted = [soon, deleted, changed].map((each) => String(each?.branch_id)).sort()
  await eventually(async () => expect(await shownOf(org)).toEqual(accepted), 60_000)
  await verified(org, {
    ...{ records: 6, accepted: 3, on_topic: 3, refused: 1, on_rejected: 1, rows: 3 },
    ...{ waiting_for_references: 0, decided_anew: 4, superseded: 1, cancelled: 1 },
  })
  await eventually(async () => {
    const rows = await analyst.query(
      `select toUInt32(sum(received)) as received, toUInt32(sum(accepted)) as accepted, toUInt32(sum(refused)) as refused,
        toUInt32(sum(waiting)) as waiting, toUInt32(sum(undecided)) as undecided
      from weir.quality where org_id = {org:String} and type = 'branches'`,
      { org },
    )
    expect(rows).toEqual([{ received: 6, accepted: 3, refused: 1, waiting: 0, undecided: 2 }])
  })

  // What waited in vain is a rejection like any other.
  expect((await uploader.upload('shops', [shopOf(never?.shop_id)])).status).toBe(200)
  const { stdout, stderr } = await runWeir(['rejected', 'retry', '--org', org, '--yes', '--json'], {
    ...system.env,
    EDGE_URL: system.edgeUrl,
  })
  expect(JSON.parse(stdout), stderr).toMatchObject({ accepted: 1, refused: 0 })
  await eventually(async () => expect(await shownOf(org)).toHaveLength(4), 60_000)
})

itDeep('lets go what waits for something that only a rebuilt index knows', async () => {
  const { name: org, uploader } = await newOrganisation('upkeep-index')
  const child = branchOf()
  expect((await uploader.upload('shops', [shopOf(child.shop_id)])).status).toBe(200)
  await pool.query('delete from integrity.entities where org_id = $1', [org])
  // What integrity remembers it does not look up: this record comes to an instance that remembers nothing.
  const killed = kill('integrity')
  await eventually(() => expect(pidOf('integrity')).not.toBe(killed), 60_000)
  const batch = await submitWaiting(system.env, org, branch, [child])
  await untilStates(batch, ['waiting'])
  await eventually(async () => {
    const { rows } = await pool.query('select is_checked from integrity.waiting where org_id = $1', [org])
    expect(rows).toEqual([{ is_checked: true }])
  })
  await operate(['rebuild', 'index'])
  await untilStates(batch, ['accepted'])
})
