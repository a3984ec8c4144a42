import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createKafka, type Kafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { kafkaPart } from '../../../../deploy/embedded/servers/kafka.js'
import { freePorts } from '../../../../deploy/embedded/servers/ports.js'
import { superviseProcess } from '../../../../deploy/embedded/supervision/supervisor.js'
import { createTopics } from '../../../support/create-topics.js'
import { eventually } from '../../../support/eventually.js'
import { type Link, openLink } from '../../../support/link.js'
import { pidIn } from '../../../support/process-tree.js'

// A Kafka of its own, with a second address behind a link: one client's way to it can be frozen while another's is open.
const log = pino({ level: 'silent' })
const closing: (() => Promise<unknown>)[] = []
let link: Link
let direct: Kafka
let linked: Kafka
let topic = ''
let dataDir = ''

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-producer-'))
  closing.push(() => rm(dataDir, { recursive: true, force: true }))
  const [port = 0, behind = 0] = await freePorts(2)
  link = await openLink({ host: '127.0.0.1', port: behind })
  closing.push(link.close)
  const part = superviseProcess(kafkaPart({ dataDir, port, behind: { port: behind, advertisedPort: link.port } }), {
    dataDir,
    report: () => {},
  })
  await part.start()
  closing.push(part.stop)
  direct = createKafka({ brokers: `127.0.0.1:${port}`, clientId: 'direct', log })
  linked = createKafka({ brokers: `127.0.0.1:${link.port}`, clientId: 'linked', log })
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

beforeEach(async ({ task }) => {
  topic = `producer-${task.id.replace(/\W/g, '')}`
  await createTopics(direct, { topic })
})

const send = async (kafka: Kafka, ...values: string[]): Promise<void> => {
  const producer = await kafka.createProducer()
  for (const value of values) await producer.send(topic, 0, [{ key: 'k', value: Buffer.from(value) }])
  await producer.close()
}
const kept = async (): Promise<string[]> => {
  const values: string[] = []
  await readTopics(direct, await stretchesOf(direct, [topic]), async ({ messages }) => {
    values.push(...messages.map(({ value }) => String(value)))
  })
  return values
}

it('appends nothing of a send that was given up, however late its connection heals', async () => {
  const stale = await linked.createProducer()
  await stale.send(topic, 0, [{ key: 'k', value: Buffer.from('before') }])
  link.freeze()
  const given = { deadline: performance.now() + 1_500 }
  await expect(stale.send(topic, 0, [{ key: 'k', value: Buffer.from('old') }], given)).rejects.toThrow(
    'Kafka did not take 1 messages',
  )
  await send(direct, 'newer', 'newest')
  link.thaw()
  // The same producer goes on, on new connections; whatever the old ones held would be there before this.
  await eventually(() => stale.send(topic, 0, [{ key: 'k', value: Buffer.from('later') }]), 30_000)
  await stale.close()
  expect(await kept()).toEqual(['before', 'newer', 'newest', 'later'])
})

it('appends nothing of a send that was still connecting when it was given up', async () => {
  const stale = await linked.createProducer()
  await link.cut()
  const given = { deadline: performance.now() + 1_500 }
  await expect(stale.send(topic, 0, [{ key: 'k', value: Buffer.from('old') }], given)).rejects.toThrow()
  await send(direct, 'newer')
  await link.mend()
  await eventually(() => stale.send(topic, 0, [{ key: 'k', value: Buffer.from('later') }]), 30_000)
  await stale.close()
  expect(await kept()).toEqual(['newer', 'later'])
})

it('says at once that a message is too large, and goes on', async () => {
  const configEntries = [{ name: 'max.message.bytes', value: '1000' }]
  await direct.withAdmin((admin) =>
    admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name: topic, configEntries }] }),
  )
  const producer = await direct.createProducer()
  const large = () => producer.send(topic, 0, [{ key: 'k', value: randomBytes(2000) }])
  // The broker hears of the new setting a moment later.
  await eventually(() =>
    expect(large()).rejects.toMatchObject({ cause: { message: expect.stringContaining('larger than the max') } }),
  )
  const { length } = await kept()
  await producer.send(topic, 0, [{ key: 'k', value: Buffer.from('small') }])
  await producer.close()
  expect((await kept()).slice(length)).toEqual(['small'])
})

it('keeps what was acknowledged, each send in order, when Kafka is killed under them', async () => {
  const producer = await direct.createProducer()
  const acknowledged: number[] = []
  const sendOn = async (lane: number): Promise<void> => {
    for (let n = 0; n < 60; n++) {
      const id = lane * 1000 + n
      // Some together with others, some by themselves.
      const value = Buffer.alloc(n % 7 === 0 ? 80_000 : 20, `${id} `)
      // A busy machine takes its time to start Kafka again.
      await producer.send(topic, 0, [{ key: 'k', value }], { deadline: performance.now() + 120_000 })
      acknowledged.push(id)
      if (id === 20) process.kill(pidIn(dataDir, 'kafka'), 'SIGKILL')
    }
  }
  await Promise.all([0, 1, 2, 3].map(sendOn))
  await producer.close()
  expect(acknowledged).toHaveLength(240)
  const ids = (await kept()).map((value) => Number.parseInt(value, 10))
  for (const lane of [0, 1, 2, 3]) {
    // What was sent when it died may be there twice; it is never behind the send that followed it.
    const own = ids.filter((id) => Math.floor(id / 1000) === lane)
    expect(own.filter((id, at) => id !== own[at - 1])).toEqual(Array.from({ length: 60 }, (_, n) => lane * 1000 + n))
  }
})
