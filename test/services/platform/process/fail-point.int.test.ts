import { randomUUID } from 'node:crypto'
import { execa } from 'execa'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { eventually } from '../../../support/eventually.js'
import { sharedParts } from '../../../support/shared-parts.js'

const brokers = sharedParts.KAFKA_BROKERS
const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers, clientId: 'test', log })
const topic = `test-${randomUUID()}`

beforeAll(() => kafka.withAdmin((admin) => admin.createTopics({ topics: [{ topic, numPartitions: 1 }] })))
afterAll(() => kafka.withAdmin((admin) => admin.deleteTopics({ topics: [topic] })))

const written = async (): Promise<string[]> => {
  const values: string[] = []
  await readTopics(kafka, await stretchesOf(kafka, [topic]), async ({ messages }) => {
    values.push(...messages.map(({ value }) => String(value)))
  })
  return values
}

it('tells once for each send, before its acknowledgement, and of nothing else that is sent', async () => {
  const order: string[] = []
  const watched = createKafka({ brokers, clientId: 'test', log, onProduceSent: () => order.push('sent') })
  const producer = await watched.createProducer()
  expect(order).toEqual([])
  for (const value of ['one', 'two']) {
    await producer.send(topic, 0, [{ key: 'k', value: Buffer.from(value) }])
    order.push('acked')
  }
  await producer.close()
  expect(order).toEqual(['sent', 'acked', 'sent', 'acked'])
})

it('is the moment in which a message is on its way and its sender does not know: who dies there has sent it', async () => {
  const script = `
    import { createKafka } from ${JSON.stringify(new URL('../../../../services/platform/kafka/kafka.ts', import.meta.url).href)}
    import { createFailAt } from ${JSON.stringify(new URL('../../../../services/platform/process/fail-point.ts', import.meta.url).href)}
    const failAt = createFailAt({ WEIR_FAILPOINT: 'after-submit-sent', WEIR_FAILPOINT_PASS: 2, WEIR_FAILPOINT_SIGNAL: 'SIGKILL' })
    const log = { warn() {}, debug() {}, info() {} }
    const kafka = createKafka({ brokers: process.env.BROKERS, clientId: 'dies', log, onProduceSent: () => failAt('after-submit-sent') })
    const producer = await kafka.createProducer()
    for (const value of ['last but one', 'last', 'never']) {
      await producer.send(process.env.TOPIC, 0, [{ key: 'k', value: Buffer.from(value) }])
      console.log('acked ' + value)
    }`
  const died = await execa(process.execPath, ['--import=tsx', '--input-type=module', '--eval', script], {
    env: { BROKERS: brokers, TOPIC: topic },
    reject: false,
  })
  expect(died.signal, died.stderr).toBe('SIGKILL')
  expect(died.stdout).toBe('acked last but one')
  expect(died.stderr).toContain('"point":"after-submit-sent","pass":2')
  await eventually(async () => expect((await written()).slice(2)).toEqual(['last but one', 'last']))
})
