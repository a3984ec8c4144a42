import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { branch } from '#schemas/records/branch.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { createUploader } from '../support/uploader.js'
import { startWholeSystem, type WholeSystem } from '../support/whole-system.js'

// A system of its own: stopping the shared one would pull it from under the others.
const dataDir = await mkdtemp(join(tmpdir(), 'weir-restart-'))
afterAll(() => rm(dataDir, { recursive: true, force: true }))

const withSystem = async <T>(journey: (system: WholeSystem) => Promise<T>): Promise<T> => {
  const { system, stop } = await startWholeSystem({ dataDir })
  try {
    return await journey(system)
  } finally {
    await stop()
  }
}

const shopsIn = async ({ env }: WholeSystem) => {
  const clickhouse = createClickHouse(env.CLICKHOUSE_URL)
  const rows = await clickhouse.query<{ id: string }>('select toString(shop_id) as id from weir.shops order by id')
  await clickhouse.close()
  return rows.map(({ id }) => id)
}

it('finds everything again after a stop: keys, entities, answers, rows', async () => {
  const records = Array.from({ length: 100 }, () => sampleOf(shop, { is_deleted: false }))
  const ids = records.map(({ shop_id }) => String(shop_id)).sort()

  const before = await withSystem(async (system) => {
    const { body, status } = await createUploader(system.edgeUrl, system.demoKey).upload('shops', records)
    expect(status).toBe(200)
    await eventually(async () => expect(await shopsIn(system)).toEqual(ids))
    return { key: system.demoKey, answer: body }
  })

  await withSystem(async (system) => {
    expect(system.demoKey).toBe(before.key)
    const uploader = createUploader(system.edgeUrl, before.key)
    expect(await shopsIn(system)).toEqual(ids)
    expect((await uploader.get(`/v1/requests/${before.answer.request_id}`)).body).toEqual(before.answer)
    expect((await uploader.upload('branches', [sampleOf(branch, { shop_id: ids[0] })])).status).toBe(200)
    expect((await uploader.upload('shops', [{ ...records[0], name: 'changed' }])).status).toBe(200)
  })
}, 240_000)
