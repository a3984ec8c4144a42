import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { kill, pidOf } from '../support/processes.js'
import { sampleOf } from '../support/sample.js'
import { analyst, newOrganisation, type Organisation, system } from '../support/system.js'

const isReady = async () => expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200)

/** Uploads until told to stop, as a careful client does: the same key again until it gets an answer that it can use. */
const keepUploading = (org: Organisation) => {
  const acknowledged: string[] = []
  let isStopped = false
  const done = (async () => {
    while (!isStopped) {
      const records = Array.from({ length: 20 }, () => sampleOf(shop, { is_deleted: false }))
      const key = { 'idempotency-key': randomUUID() }
      for (;;) {
        const status = await org.uploader.upload('shops', records, key).then(
          (answer) => answer.status,
          () => 'cut off',
        )
        if (status === 200) {
          acknowledged.push(...records.map(({ shop_id }) => String(shop_id)))
          break
        }
        expect(['cut off', 207, 500, 503]).toContain(status)
        await wait(200)
      }
    }
  })()
  return {
    acknowledged,
    stop: () => {
      isStopped = true
      return done
    },
  }
}

it.each(['edge', 'integrity', 'sink', 'clickhouse', 'registry', 'postgres', 'kafka'])(
  'loses nothing that was acknowledged when %s is killed',
  async (name) => {
    const org = await newOrganisation(`kill-${name}`)
    const client = keepUploading(org)
    await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(100))

    const killed = kill(name)
    await eventually(() => expect(pidOf(name)).not.toBe(killed), 60_000)
    await eventually(isReady, 60_000)
    const before = client.acknowledged.length
    await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(before + 100), 60_000)
    await client.stop()

    await eventually(async () => {
      const rows = await analyst.query<{ id: string }>(
        'select toString(shop_id) as id from weir.shops where org_id = {org:String}',
        { org: org.name },
      )
      expect(rows.map(({ id }) => id).sort()).toEqual([...client.acknowledged].sort())
    }, 60_000)
  },
  240_000,
)
