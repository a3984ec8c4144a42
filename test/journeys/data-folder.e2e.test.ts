import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { eventually } from '../support/eventually.js'
import { freePortVariables } from '../support/free-port-variables.js'
import { openSmallDisk } from '../support/small-disk.js'
import { keepUploading } from '../support/system/keep-uploading.js'
import { readyzOf } from '../support/system/readiness.js'
import { createUploader } from '../support/system/uploader.js'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'

// Closed after the system of the second suite has stopped.
const tinyDisk = await openSmallDisk(16)
const disk = await openSmallDisk(256)
afterAll(async () => {
  await tinyDisk.close()
  await disk.close()
})

describe('npm start says in one line what to do when its data folder', () => {
  const start = async (dataDir: string) => {
    const { exitCode, stderr } = await execa(process.execPath, ['deploy/embedded/start.mjs'], {
      env: { ...(await freePortVariables()), DATA_DIR: dataDir },
      reject: false,
    })
    expect(exitCode).toBe(1)
    return stderr
  }
  const lineFor = (dataDir: string, why: string) =>
    `The data folder ${dataDir} cannot be used: ${why}. See to that, or set DATA_DIR to another folder.`

  it('is full', async () => {
    tinyDisk.fill()
    try {
      await eventually(async () =>
        expect(await start(tinyDisk.dataDir)).toBe(lineFor(tinyDisk.dataDir, 'the disk is full')),
      )
    } finally {
      await tinyDisk.free()
    }
  })

  it('is read-only', async () => {
    await tinyDisk.makeReadOnly()
    try {
      expect(await start(tinyDisk.dataDir)).toBe(lineFor(tinyDisk.dataDir, 'the disk is read-only'))
    } finally {
      await tinyDisk.makeWritable()
    }
  })

  it('is a file', async () => {
    expect(await start('package.json')).toMatch(/^The data folder .*package.json cannot be used: there is a file/)
  })
})

describe('a system whose disk', () => {
  let system: WholeSystem
  beforeAll(async () => {
    // Uploaders wait for 1.5 s instead of 30, so that they soon hear that something is wrong.
    const started = await startWholeSystem({ dataDir: disk.dataDir, env: { VERDICT_TIMEOUT_MS: '1500' } })
    system = started.system
    return started.stop
  })

  it.each([
    ['is full', disk.fill, disk.free],
    ['is read-only', disk.makeReadOnly, disk.makeWritable],
  ])(
    '%s says so, keeps what it acknowledged, and goes on when that is over',
    async (_, begin, end) => {
      const { edgeUrl, demoKey } = system
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

      await eventually(
        async () => expect(await shopsIn(system, client.acknowledged)).toEqual([...client.acknowledged].sort()),
        60_000,
      )
    },
    480_000,
  )
})

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
