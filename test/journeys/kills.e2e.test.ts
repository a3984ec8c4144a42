import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { sized } from '../support/sized.js'
import { keepUploading } from '../support/system/keep-uploading.js'
import { kill, pidOf } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

const isReady = async () => expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200)

// The services are killed in every run by test/faults, at their worst moments.
const parts = ['clickhouse', 'postgres', 'kafka']

it.each(sized(parts, ['edge', 'integrity', 'sink', 'registry', ...parts]))(
  'loses nothing that was acknowledged when %s is killed',
  async (name) => {
    const org = await newOrganisation(`kill-${name}`)
    const client = keepUploading(org.uploader)
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
    })
  },
  240_000,
)
