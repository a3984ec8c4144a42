import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { type ServiceName, startService } from '../support/system/another-service.js'
import { keepInteracting, keepUploading } from '../support/system/keep-uploading.js'
import { kill, pidOf } from '../support/system/processes.js'
import { readyzOf } from '../support/system/readiness.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

const names: ServiceName[] = ['edge', 'integrity', 'sink']
const urlOf = (name: ServiceName) =>
  name === 'edge' ? system.edgeUrl : `http://127.0.0.1:${system.env[`${name.toUpperCase()}_PORT`]}`
const isReady = (name: ServiceName) =>
  eventually(async () => expect(await readyzOf(urlOf(name))).toMatchObject({ httpStatus: 200 }), 60_000)

/** As an orchestrator does it: the next one only when this one is back. */
const restart = async (name: ServiceName) => {
  const before = kill(name, 'SIGTERM')
  await eventually(() => expect(pidOf(name)).not.toBe(before), 30_000)
  await isReady(name)
}
const rowsOf = async (view: string, id: string, org: string) => {
  const rows = await analyst.query<{ id: string }>(
    `select toString(${id}) as id from weir.${view} where org_id = {org:String}`,
    { org },
  )
  return rows.map((row) => row.id).sort()
}

// In every run test/faults kills two of each, and test/journeys/restart.e2e.test.ts stops all at once under load.
it.each<[string, boolean]>([
  ['two', true],
  ['one', false],
])(
  'with %s of each service, all are restarted under load, and a client that retries gets through every time',
  async (_, isTwofold) => {
    const org = await newOrganisation('rolling')
    const seconds = isTwofold ? await Promise.all(names.map((name) => startService(name))) : []
    const uploaders = [system.edgeUrl, ...seconds.slice(0, 1).map(({ url }) => url)].map((url) =>
      createUploader(url, org.key),
    )
    try {
      const uploads = keepUploading(...uploaders)
      const [shopId = ''] = await eventually(() => {
        expect(uploads.acknowledged.length).toBeGreaterThan(100)
        return uploads.acknowledged
      })
      const interactions = keepInteracting(shopId, ...uploaders)
      for (const name of names) await restart(name)
      const reached = [uploads.acknowledged.length, interactions.acknowledged.length]
      await eventually(() => {
        expect(uploads.acknowledged.length).toBeGreaterThan((reached[0] ?? 0) + 60)
        expect(interactions.acknowledged.length).toBeGreaterThan((reached[1] ?? 0) + 3)
      })
      await Promise.all([uploads.stop(), interactions.stop()])

      // Refused or cut connections to an edge on its way out, and a new one that is not quite there.
      const failures = [...uploads.failures, ...interactions.failures]
      expect(failures.filter(({ status }) => status !== 'cut off' && status !== 503)).toEqual([])
      await eventually(async () => {
        expect(await rowsOf('shops', 'shop_id', org.name)).toEqual([...uploads.acknowledged].sort())
        expect(await rowsOf('interactions', 'interaction_id', org.name)).toEqual([...interactions.acknowledged].sort())
      })
    } finally {
      for (const second of seconds) await second.stop()
    }
  },
)
