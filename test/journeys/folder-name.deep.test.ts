import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { shop } from '#schemas/records/shop.js'
import { cloneInto } from '../support/clone.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { createUploader } from '../support/system/uploader.js'
import { startWholeSystem } from '../support/system/whole-system.js'

const above = await mkdtemp(join(tmpdir(), 'weir-folder-'))
afterAll(() => rm(above, { recursive: true }))

// CLICKHOUSE_PASSWORD is for analysts: the services, which get it from the same shell, must not stumble over it.
// LC_ALL=C is what programs get from cron, ssh and bare containers: there Java reads only ASCII, unless told otherwise.
it('runs in a folder with blanks and letters beyond ASCII, and keeps all data inside it', async () => {
  const clone = join(above, 'my wéir 店')
  const dataDir = join(clone, '.data')
  await cloneInto(clone)
  const record = sampleOf(shop, { is_deleted: false })
  const { system, stop } = await startWholeSystem({
    clone,
    dataDir,
    env: { LC_ALL: 'C', CLICKHOUSE_PASSWORD: 'of analysts' },
  })
  try {
    const { status } = await createUploader(system.edgeUrl, system.demoKey).upload('shops', [record])
    expect(status).toBe(200)
    const clickhouse = createClickHouse(system.env.CLICKHOUSE_URL)
    await eventually(async () => {
      expect(await clickhouse.query('select toString(shop_id) as id from weir.shops')).toEqual([{ id: record.shop_id }])
    })
    await clickhouse.close()
  } finally {
    await stop()
  }
  const files = [
    'kafka/log/meta.properties',
    'kafka/log/weir.submitted.shops-0',
    'registry/registry.mv.db',
    'postgres/cluster/PG_VERSION',
    'clickhouse/engine/store',
    'demo-key',
  ]
  expect(files.filter((file) => !existsSync(join(dataDir, file)))).toEqual([])
  expect(readdirSync(above)).toEqual(['my wéir 店'])
})
