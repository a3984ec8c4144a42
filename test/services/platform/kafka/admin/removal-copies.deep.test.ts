import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Removal, removeMessages, type TopicConfigs } from '#platform/kafka/admin/removal.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { kafkaPart } from '../../../../../deploy/embedded/servers/kafka.js'
import { freePorts } from '../../../../../deploy/embedded/servers/ports.js'
import { superviseProcess } from '../../../../../deploy/embedded/supervision/supervisor.js'
import { createTopics } from '../../../../support/create-topics.js'

// Three brokers, each with a copy that it cleans by itself.

const hosts = ['127.0.0.31', '127.0.0.32', '127.0.0.33']
const dataDir = await mkdtemp(join(tmpdir(), 'weir-copies-'))
const homes = hosts.map((host) => join(dataDir, host))
const [port = 0, controllerPort = 0] = await freePorts(2)
const report = () => {}
const brokerOf = (n: number) =>
  superviseProcess(kafkaPart({ dataDir: homes[n] ?? '', port, node: { id: n + 1, hosts, controllerPort } }), {
    dataDir: homes[n] ?? '',
    report,
  })
const running = hosts.map((_, n) => brokerOf(n))

const log = pino({ level: 'silent' })
const brokers = hosts.map((host) => `${host}:${port}`).join()
const kafka = createKafka({ brokers, clientId: 'removal-copies-test', log })
const topic = 'removal-copies'
const partitions = [0, 1, 2]

beforeAll(async () => {
  const clusterId = randomBytes(16).toString('base64url')
  for (const home of homes) {
    await mkdir(join(home, 'kafka'), { recursive: true })
    await writeFile(join(home, 'kafka/cluster-id'), clusterId)
  }
  await Promise.all(running.map((broker) => broker.start()))
  await createTopics(kafka, { topic, numPartitions: partitions.length, replicationFactor: hosts.length })
})
afterAll(async () => {
  await Promise.all(running.map((broker) => broker.stop()))
  await rm(dataDir, { recursive: true, force: true })
})

/** On which brokers' disks a text is, by their numbers. */
const disksWith = async (text: string): Promise<number[]> => {
  const has = async (home: string): Promise<boolean> => {
    for (const partition of partitions) {
      const folder = join(home, 'kafka/log', `${topic}-${partition}`)
      for (const name of await readdir(folder)) if ((await readFile(join(folder, name))).includes(text)) return true
    }
    return false
  }
  const found = await Promise.all(homes.map(has))
  return found.flatMap((is, n) => (is ? [n + 1] : []))
}

let current: TopicConfigs = {}
const kept = {
  load: async () => current,
  keep: async (configs: TopicConfigs) => {
    current = configs
  },
}
const write = async (secret: string): Promise<Removal[]> => {
  const producer = await kafka.createProducer()
  const removals: Removal[] = []
  for (const partition of partitions) {
    const [{ high } = { high: '0' }] = (await kafka.withAdmin((admin) => admin.fetchTopicOffsets(topic))).filter(
      (each) => each.partition === partition,
    )
    const key = `forgotten-${randomUUID()}`
    const others = Array.from({ length: 10 }, () => ({ key: randomUUID(), value: Buffer.from(`not ${partition}`) }))
    await producer.send(topic, partition, [{ key, value: Buffer.from(secret) }, ...others])
    removals.push({ topic, partition, keys: new Set([key]), offsets: [Number(high)] })
  }
  await producer.close()
  return removals
}
const remove = async (removals: readonly Removal[], within: number): Promise<void> => {
  const producer = await kafka.createProducer()
  const began = performance.now()
  try {
    await removeMessages({ kafka, producer, kept, log }, removals, { within, beforeCompaction: async () => {} })
    process.stderr.write(`removed from ${hosts.length} copies in ${Math.round(performance.now() - began)} ms\n`)
  } finally {
    await producer.close()
  }
}

it('removes messages from every copy', async () => {
  const secret = `secret-${randomUUID()}`
  const removals = await write(secret)
  expect(await disksWith(secret)).toEqual([1, 2, 3])
  await remove(removals, 120_000)
  expect(await disksWith(secret)).toEqual([])
  expect(await disksWith('forgotten-')).toEqual([])
  expect(await disksWith('not 2')).toEqual([1, 2, 3])
})

it('does not say that it is done while a copy is on a broker that is away', async () => {
  const secret = `secret-${randomUUID()}`
  const removals = await write(secret)
  await running[2]?.stop()
  await expect(remove(removals, 30_000)).rejects.toThrow(`broker 3 has ${topic}/`)
  expect(current).toEqual({})
  expect(await disksWith(secret)).toContain(3)
  running[2] = brokerOf(2)
  await running[2].start()
  await remove(removals, 120_000)
  expect(await disksWith(secret)).toEqual([])
})
