import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createKafka, type Kafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { kafkaPart } from '../../../../deploy/embedded/parts/kafka.js'
import { freePorts } from '../../../../deploy/embedded/parts/ports.js'
import { superviseProcess } from '../../../../deploy/embedded/supervision/supervisor.js'
import { eventually } from '../../../support/eventually.js'
import { type Link, openLink } from '../../../support/link.js'

// A Kafka of its own, with a second address behind a link: one client's way to it can be frozen while another's is open.
const log = pino({ level: 'silent' })
const closing: (() => Promise<unknown>)[] = []
let link: Link
let direct: Kafka
let linked: Kafka
let topic = ''

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-producer-'))
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
}, 60_000)
afterAll(async () => {
  for (const close of closing.reverse()) await close()
}, 30_000)

beforeEach(async ({ task }) => {
  topic = `producer-${task.id.replace(/\W/g, '')}`
  await direct.withAdmin((admin) => admin.createTopics({ waitForLeaders: true, topics: [{ topic }] }))
})

const send = async (kafka: Kafka, ...values: string[]): Promise<void> => {
  const producer = await kafka.createProducer()
  for (const value of values) await producer.send(topic, 0, [{ key: 'k', value: Buffer.from(value) }])
  await producer.close()
}
const kept = async (): Promise<string[]> => {
  const values: string[] = []
  await readTopics(direct, await stretchesOf(direct, [topic]), async ({ messages }) => {
    values.push(...messages.map(({ value }) => value.toString()))
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
}, 60_000)

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
}, 60_000)

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
}, 60_000)
