import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { eventually } from '../support/eventually.js'
import { diskOrSkip, openSmallDisk } from '../support/small-disk.js'
import { keepUploading } from '../support/system/keep-uploading.js'
import { readyzOf } from '../support/system/readiness.js'
import { createUploader } from '../support/system/uploader.js'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'

const disk = await openSmallDisk(256)
afterAll(() => ('close' in disk ? disk.close() : undefined))

let system: WholeSystem
let stop: (() => Promise<void>) | undefined
beforeAll(async () => {
  if ('whyNot' in disk) return
  // Uploaders wait for 1.5 s instead of 30, so that they soon hear that something is wrong.
  const { dataDir, inside } = disk
  const started = await startWholeSystem({ dataDir, inside, env: { VERDICT_TIMEOUT_MS: '1500' } })
  system = started.system
  stop = started.stop
})
// Runs before the disk is closed: vitest calls what was registered last first.
afterAll(() => stop?.())

it.for([
  ['is full', 'fill', 'free'],
  ['is read-only', 'makeReadOnly', 'makeWritable'],
] as const)(
  'a system whose disk %s says so, keeps what it acknowledged, and goes on when that is over',
  { timeout: 480_000 },
  async ([, begin, end], test) => {
    const own = diskOrSkip(disk, test)
    const { edgeUrl, demoKey } = system
    const client = keepUploading(createUploader(edgeUrl, demoKey))
    await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(60))
    await own[begin]()
    try {
      const answered = () => client.failures.filter(({ status }) => status !== 'cut off')
      await eventually(() => expect(answered().length).toBeGreaterThan(3), 90_000)
      for (const { status, body } of answered()) expect(sentenceIn(body), `${status}`).toMatch(/\w+ \w+/)
      await eventually(async () => expect(await readyzOf(edgeUrl)).toMatchObject({ httpStatus: 503 }))
    } finally {
      await own[end]()
    }
    await eventually(async () => expect(await readyzOf(edgeUrl)).toMatchObject({ httpStatus: 200 }), 240_000)
    const before = client.acknowledged.length
    // The first 200 may come before Kafka has noticed that its disk had failed.
    await eventually(() => expect(client.acknowledged.length).toBeGreaterThan(before + 60), 240_000)
    await client.stop()

    await eventually(
      async () => expect(await shopsIn(system, client.acknowledged)).toEqual([...client.acknowledged].sort()),
      60_000,
    )
  },
)

const shopsIn = async ({ env }: WholeSystem, ids: string[]): Promise<string[]> => {
  const clickhouse = createClickHouse(env.CLICKHOUSE_URL)
  const rows = await clickhouse.query<{ id: string }>(
    'select toString(shop_id) as id from weir.shops where has({ids:Array(String)}, toString(shop_id))',
    { ids },
  )
  await clickhouse.close()
  return rows.map(({ id }) => id).sort()
}

/** What an answer tells a person: of the whole request, or of its batches. */
const sentenceIn = (body: unknown): string => {
  const { message, batches } = body as { message?: string; batches?: { data: { error: string | null } }[] }
  return message ?? batches?.find(({ data }) => data.error)?.data.error ?? ''
}
