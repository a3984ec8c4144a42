import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { execa } from 'execa'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { partitionOf } from '#platform/kafka/partitions.js'
import { createPool } from '#platform/postgres/postgres.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { untilQuiet } from '../support/system/groups.js'
import { kill, pidOf } from '../support/system/processes.js'
import { newOrganisation, type Organisation, operate, system } from '../support/system/system.js'

type Rebuilt = { entities: number; added: number; removed: number; undecodable: number; swapped: boolean }

const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 2)
afterAll(() => pool.end())

const shops = (count: number) => Array.from({ length: count }, () => sampleOf(shop, { is_deleted: false }))
const offerOf = (shopId: unknown) => sampleOf(offer, { shop_id: shopId, is_deleted: false })
const startRebuild = () =>
  execa(process.execPath, ['dist/services/operator/main.js', 'rebuild', 'index'], { env: system.env, reject: false })

/**
 * Uploads shops, then offers that refer to them, until told to stop; what was refused is kept. An answer of 500 or 503 says
 * that a busy machine did not get to it: it refuses nothing, and offers of shops that may not be there are not sent.
 */
const keepReferring = (org: Organisation) => {
  const refused: unknown[] = []
  let rounds = 0
  let isStopped = false
  const isAccepted = async (type: string, records: unknown[]): Promise<boolean> => {
    const { status, body } = await org.uploader.upload(type, records)
    if (status !== 200 && status < 500) refused.push(body)
    return status === 200
  }
  const done = (async () => {
    while (!isStopped) {
      const uploaded = shops(10)
      const isThere = await isAccepted('shops', uploaded)
      const offers = uploaded.map(({ shop_id }) => offerOf(shop_id))
      if (!isThere || !(await isAccepted('offers', offers))) continue
      rounds++
      // Always something under way, without keeping a core busy.
      await wait(sized(50, 0))
    }
  })()
  return {
    refused,
    rounds: () => rounds,
    stop: () => {
      isStopped = true
      return done
    },
  }
}

it('swaps in a new index under load, again and again, and no reference is missed', async () => {
  // Whatever other journeys did to the index: from here on it is right.
  await operate(['rebuild', 'index'])
  const clients = [keepReferring(await newOrganisation('index-a')), keepReferring(await newOrganisation('index-b'))]
  try {
    for (let times = 0; times < 2; times++) {
      const before = clients.map((client) => client.rounds())
      expect(await operate<Rebuilt>(['rebuild', 'index'])).toMatchObject({ added: 0, removed: 0, swapped: true })
      await eventually(() => clients.map((client, i) => expect(client.rounds()).toBeGreaterThan(before[i] ?? 0)))
    }
  } finally {
    await Promise.all(clients.map((client) => client.stop()))
  }
  expect(clients.flatMap(({ refused }) => refused)).toEqual([])
})

it('makes a damaged index right: what was missing is known again, and an alien no longer', async () => {
  const org = await newOrganisation('index-damaged')
  const [lost, kept] = shops(2)
  expect((await org.uploader.upload('shops', [lost, kept])).status).toBe(200)
  const alien = randomUUID()
  await pool.query(`delete from integrity.entities where id = $1`, [lost?.shop_id])
  await pool.query(`insert into integrity.entities values ($1, 'shops', $2)`, [org.name, alien])
  // It remembers what it accepted: only a new one asks the index.
  const killed = kill('integrity')
  await eventually(() => expect(pidOf('integrity')).not.toBe(killed), 60_000)

  const statusOf = async (shopId: unknown) => (await org.uploader.upload('offers', [offerOf(shopId)])).status
  await eventually(async () => expect(await statusOf(kept?.shop_id)).toBe(200), 60_000)
  expect([await statusOf(lost?.shop_id), await statusOf(alien)]).toEqual([400, 200])

  const dry = await operate<Rebuilt>(['rebuild', 'index', '--dry-run'])
  expect(dry).toMatchObject({ added: 1, removed: 1, swapped: false })
  expect([await statusOf(lost?.shop_id), await statusOf(alien)]).toEqual([400, 200])

  expect(await operate<Rebuilt>(['rebuild', 'index'])).toMatchObject({ added: 1, removed: 1, swapped: true })
  expect([await statusOf(lost?.shop_id), await statusOf(alien), await statusOf(kept?.shop_id)]).toEqual([200, 400, 200])
})

it('leaves out a record that is gone, unless it came again', async () => {
  const org = await newOrganisation('index-gone')
  const [gone, again] = shops(2)
  expect((await org.uploader.upload('shops', [gone, again])).status).toBe(200)
  await untilQuiet(system.env.KAFKA_BROKERS)
  // Another journey may have left some in the log.
  const { undecodable } = await operate<Rebuilt>(['rebuild', 'index', '--dry-run'])
  const stranger = new Kafka({ brokers: system.env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING }).producer()
  await stranger.connect()
  for (const each of [gone, again]) {
    const key = `${org.name}/${each?.shop_id}`
    await stranger.send({
      topic: 'weir.accepted.shops',
      messages: [{ key, partition: partitionOf(key, 4), value: null }],
    })
  }
  await stranger.disconnect()
  expect((await org.uploader.upload('shops', [again])).status).toBe(200)
  expect(await operate<Rebuilt>(['rebuild', 'index'])).toMatchObject({ added: 0, removed: 1, undecodable })
  const { rows } = await pool.query(`select id from integrity.entities where org_id = $1`, [org.name])
  expect(rows).toEqual([{ id: again?.shop_id }])
})

itDeep('leaves nothing in the way when it is killed, and nothing at all when it is interrupted', async () => {
  const org = await newOrganisation('index-cut-off')
  const begun = () =>
    eventually(async () => {
      const { rows } = await pool.query(`select 1 from pg_trigger where tgname = 'copy_to_rebuilt'`)
      expect(rows).toHaveLength(1)
    })
  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    const running = startRebuild()
    await begun()
    running.kill(signal)
    const { exitCode, stderr } = await running
    if (signal === 'SIGINT') expect([exitCode, stderr]).toEqual([1, expect.stringContaining('interrupted')])
    const [uploaded] = shops(1)
    expect((await org.uploader.upload('shops', [uploaded])).status).toBe(200)
    expect((await org.uploader.upload('offers', [offerOf(uploaded?.shop_id)])).status).toBe(200)
    await operate<Rebuilt>(['rebuild', 'index'])
    const { rows } = await pool.query(`select to_regclass('integrity.entities_rebuilt') as left_behind`)
    expect(rows).toEqual([{ left_behind: null }])
  }
})
