import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { eventually } from '../support/eventually.js'
import { freePortVariables } from '../support/free-port-variables.js'
import { diskOrSkip, openSmallDisk } from '../support/small-disk.js'
import { keepUploading } from '../support/system/keep-uploading.js'
import { readyzOf } from '../support/system/readiness.js'
import { createUploader } from '../support/system/uploader.js'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'

// Closed after the system of the second suite has stopped.
const tinyDisk = await openSmallDisk(16)
const disk = await openSmallDisk(256)
afterAll(async () => {
  for (const each of [tinyDisk, disk]) if ('close' in each) await each.close()
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

  it('is full', async (test) => {
    const { dataDir, fill, free } = diskOrSkip(tinyDisk, test)
    fill()
    try {
      await eventually(async () => expect(await start(dataDir)).toBe(lineFor(dataDir, 'the disk is full')))
    } finally {
      await free()
    }
  })

  it('is read-only', async (test) => {
    const { dataDir, makeReadOnly, makeWritable } = diskOrSkip(tinyDisk, test)
    await makeReadOnly()
    try {
      expect(await start(dataDir)).toBe(lineFor(dataDir, 'the disk is read-only'))
    } finally {
      await makeWritable()
    }
  })

  it('is a file', async () => {
    expect(await start('package.json')).toMatch(/^The data folder .*package.json cannot be used: there is a file/)
  })
})

describe('a system whose disk', () => {
  let system: WholeSystem
  beforeAll(async () => {
    if ('whyNot' in disk) return
    // Uploaders wait for 1.5 s instead of 30, so that they soon hear that something is wrong.
    const { dataDir, inside } = disk
    const started = await startWholeSystem({ dataDir, inside, env: { VERDICT_TIMEOUT_MS: '1500' } })
    system = started.system
    return started.stop
  })

  it.for([
    ['is full', 'fill', 'free'],
    ['is read-only', 'makeReadOnly', 'makeWritable'],
  ] as const)(
    '%s says so, keeps what it acknowledged, and goes on when that is over',
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
