import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKafka, type Kafka } from '#platform/kafka/kafka.js'
import { createCatalogue } from '#schemas/catalogue.js'
import { submittedTopic } from '#schemas/derive/names.js'
import { moment, text, uuid } from '#schemas/field.js'
import { lifecycle, record } from '#schemas/record.js'
import { kafkaPart } from '../../../../deploy/embedded/servers/kafka.js'
import { freePorts } from '../../../../deploy/embedded/servers/ports.js'
import { superviseProcess } from '../../../../deploy/embedded/supervision/supervisor.js'
import { provisionTopics } from '../../../../services/operator/provision/topics.js'
import { eventually } from '../../../support/eventually.js'

// Two brokers: the embedded one, and a second that joins it.
const log = pino({ level: 'silent' })
const closing: (() => Promise<unknown>)[] = []
// One type: each partition of all the others would have to be copied too.
const catalogue = createCatalogue(
  [
    record({
      type: 'things',
      id: 'thing_id',
      about: 'A thing.',
      fields: { thing_id: uuid(), size: text(), ...lifecycle },
    }),
  ],
  record({ type: 'looks', id: 'look_id', about: 'A look.', assigned: { look_id: uuid() }, fields: { at: moment() } }),
)
const topic = submittedTopic('things')
let kafka: Kafka
let second: ReturnType<typeof superviseProcess>

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-copies-'))
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const [port = 0, otherPort = 0] = await freePorts(2)
  const supervise = (part: ReturnType<typeof kafkaPart>, dataDir: string) =>
    superviseProcess(part, { dataDir, report: () => {} })
  const [one, two] = [join(folder, 'one'), join(folder, 'two')]
  const first = supervise(kafkaPart({ dataDir: one, port }), one)
  closing.push(() => first.stop())
  await first.start()
  second = supervise(await joining(kafkaPart({ dataDir: two, port: otherPort }), one, two), two)
  closing.push(() => second.stop())
  await second.start()
  kafka = createKafka({ brokers: `127.0.0.1:${port}`, clientId: 'copies', log })
  const brokers = () => kafka.withAdmin(async (admin) => (await admin.describeCluster()).brokers.length)
  await eventually(async () => expect(await brokers()).toBe(2))
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

/** A broker of the same cluster, without a controller of its own. */
const joining = async (
  part: ReturnType<typeof kafkaPart>,
  one: string,
  two: string,
): Promise<ReturnType<typeof kafkaPart>> => {
  await mkdir(join(two, 'kafka'), { recursive: true })
  await writeFile(join(two, 'kafka/cluster-id'), await readFile(join(one, 'kafka/cluster-id')))
  const change = async (file: string, changes: [RegExp, string][]) => {
    const text = await readFile(file, 'utf8')
    await writeFile(
      file,
      changes.reduce((changed, [from, to]) => changed.replace(from, to), text),
    )
  }
  const [voters = ''] = /^controller\.quorum\.voters=.*$/m.exec(
    await readFile(join(one, 'kafka/server.properties'), 'utf8'),
  ) ?? ['']
  const prepare = async (signal: AbortSignal) => {
    await part.prepare?.(signal)
    await change(join(two, 'kafka/log/meta.properties'), [[/^node\.id=1$/m, 'node.id=2']])
    await change(join(two, 'kafka/server.properties'), [
      [/^process\.roles=.*$/m, 'process.roles=broker'],
      [/^node\.id=1$/m, 'node.id=2'],
      [/^controller\.quorum\.voters=.*$/m, voters],
      [/,CONTROLLER:\/\/[^,\n]*$/m, ''],
    ])
  }
  return { ...part, prepare }
}

const inSync = () =>
  kafka.withAdmin(async (admin) => {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name: topic }] })
    return resources[0]?.configEntries.find(({ configName }) => configName === 'min.insync.replicas')?.configValue
  })
const send = async (within: number): Promise<void> => {
  const producer = await kafka.createProducer()
  try {
    const options = { deadline: performance.now() + within }
    await producer.send(topic, 0, [{ key: 'k', value: Buffer.from('v') }], options)
  } finally {
    await producer.close()
  }
}

it('acknowledges nothing that only one of two brokers has', async () => {
  // As many copies as there are brokers, because it is not said how many.
  expect(await provisionTopics(kafka, catalogue, undefined)).toMatchObject({ copies: 2 })
  // Again at once, and by somebody else: the broker that is asked may not have heard of the topics yet.
  expect(await provisionTopics(kafka, catalogue, 2)).toMatchObject({ altered: 0 })
  expect(await eventually(inSync)).toBe('2')
  // The second broker begins to copy a moment after the topics were made.
  await eventually(() => send(20_000), 60_000)

  await second.stop()
  await expect(send(3_000)).rejects.toThrow('Kafka did not take 1 messages')
})

it('goes by the copies that a topic has where a later provisioning does not say how many', async () => {
  expect(await provisionTopics(kafka, catalogue, 1)).toMatchObject({ created: 0, altered: 0 })
  expect(await inSync()).toBe('2')
})
