import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { eventually } from '../support/eventually.js'
import { keepUploading } from '../support/keep-uploading.js'
import { readyzOf } from '../support/readiness.js'
import { openSmallDisk } from '../support/small-disk.js'
import { createUploader } from '../support/uploader.js'
import { startWholeSystem } from '../support/whole-system.js'

const disk = await openSmallDisk(256)
afterAll(disk.close)

describe('a system whose disk', () => {
  let running: Awaited<ReturnType<typeof startWholeSystem>>
  beforeAll(async () => {
    running = await startWholeSystem({ dataDir: disk.dataDir, env: { VERDICT_TIMEOUT_MS: '3000' } })
    return running.stop
  })

  it.each([
    ['is full', disk.fill, disk.free],
    ['is read-only', disk.makeReadOnly, disk.makeWritable],
  ])(
    '%s says so, keeps what it acknowledged, and goes on when that is over',
    async (_, begin, end) => {
      const { edgeUrl, demoKey, env } = running.system
      const client = keepUploading(createUploader(edgeUrl, demoKey))
      await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(60))
      await begin()
      try {
        const answered = () => client.failures.filter(({ status }) => status !== 'cut off')
        await eventually(() => expect(answered().length).toBeGreaterThan(3), 90_000)
        for (const { status, body } of answered()) expect(sentenceIn(body), `${status}`).toMatch(/\w+ \w+/)
        await eventually(async () => expect(await readyzOf(edgeUrl)).toMatchObject({ httpStatus: 503 }))
      } finally {
        await end()
      }
      await eventually(async () => expect(await readyzOf(edgeUrl)).toMatchObject({ httpStatus: 200 }), 240_000)
      const before = client.acknowledged.length
      // The first 200 may come before Kafka has noticed that its disk had failed.
      await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(before + 60), 240_000)
      await client.stop()

      const clickhouse = createClickHouse(env.CLICKHOUSE_URL)
      await eventually(async () => {
        const rows = await clickhouse.query<{ id: string }>(
          'select toString(shop_id) as id from weir.shops where has({ids:Array(String)}, toString(shop_id))',
          { ids: client.acknowledged },
        )
        expect(rows.map(({ id }) => id).sort()).toEqual([...client.acknowledged].sort())
      }, 60_000)
      await clickhouse.close()
    },
    480_000,
  )
})

/** What an answer tells a person: of the whole request, or of its batches. */
const sentenceIn = (body: unknown): string => {
  const { message, batches } = body as { message?: string; batches?: { data: { error: string | null } }[] }
  return message ?? batches?.find(({ data }) => data.error)?.data.error ?? ''
}
