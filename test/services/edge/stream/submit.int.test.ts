import { randomBytes, randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { createKafka, type Kafka } from '#platform/kafka/kafka.js'
import { createPatience } from '#platform/process/patience.js'
import { createRegistry } from '#platform/registry.js'
import { createCatalogue } from '#schemas/catalogue.js'
import { submittedSchema, verdictSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedTopic, verdictsTopic } from '#schemas/derive/names.js'
import { usualLayout } from '#schemas/derive/topics.js'
import type { SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import { moment, uuid } from '#schemas/field.js'
import { record } from '#schemas/record.js'
import { shop } from '#schemas/records/shop.js'
import type { Submit } from '../../../../services/edge/batches/outcome.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { openStream } from '../../../../services/edge/stream/stream.js'
import { createSubmit } from '../../../../services/edge/stream/submit.js'
import { createVerdicts } from '../../../../services/edge/stream/verdicts.js'
import { provisionSubjects } from '../../../../services/operator/provision/subjects.js'
import { provisionTopics } from '../../../../services/operator/provision/topics.js'
import { batchOf, outgoing } from '../../../support/batch.js'
import { eventually } from '../../../support/eventually.js'
import { sampleOf } from '../../../support/sample.js'
import { sharedParts } from '../../../support/shared-parts.js'
import { type SubmitWorld, submitContract } from '../contracts/submit.contract.js'
import { verdictOn } from '../fakes/submit.fake.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'

const parts = sharedParts
const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers: parts.KAFKA_BROKERS, clientId: 'submit-test', log })
const registry = createRegistry(parts.SCHEMA_REGISTRY_URL)

// A type, and so a topic, that no other test knows.
const type = { ...shop, type: `shops-${randomBytes(4).toString('hex')}` }
const seen = record({
  type: `${type.type}-seen`,
  id: 'seen_id',
  about: 'A look.',
  fields: { seen_id: uuid(), at: moment() },
})
const catalogue = createCatalogue([type], seen)

const world: SubmitWorld = { problemsOf: () => [], isDeciding: true, lost: undefined }
const closing: (() => Promise<void> | void)[] = []
const crash = (error: unknown) => {
  throw error
}
let submit: Submit

beforeAll(async () => {
  await provisionTopics(kafka, catalogue, 1)
  await provisionSubjects(registry, catalogue)
  await answerBatches()
  submit = await openSubmit()
  // A verdict that is published before the edge's consumer has found the end of the topic is missed.
  await eventually(async () => {
    const [outcome] = await submit(type.type, [outgoing(type, batchOf(type, [sampleOf(type)]))], { patience: 1000 })
    if (!outcome || 'unknown' in outcome) throw new Error('no verdict came')
  })
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

/** Stands in for integrity: reads the submitted topic, and publishes a verdict on each batch. */
const answerBatches = async (): Promise<void> => {
  const topic = submittedTopic(type.type)
  const decode = registry.decoder<SubmittedBatch>(submittedSchema(type))
  const encode = await registry.encoder<VerdictEvent>(subjectOf(verdictsTopic), verdictSchema())
  const producer = await kafka.createProducer()
  closing.push(producer.close)
  const consumer = await kafka.consume({
    groupId: `submit-test-${randomUUID()}`,
    topics: [topic],
    fromBeginning: true,
    commits: false,
    crash,
    onFetch: async ({ messages }) => {
      for (const { value } of messages) {
        if (!world.isDeciding) continue
        const verdict = verdictOn(type.type, await decode(value), world.problemsOf)
        await producer.send(verdictsTopic, 0, [{ key: verdict.org_id, value: encode(verdict) }])
      }
    },
  })
  closing.push(consumer.close)
}

/** The edge's own way to Kafka and back, without a Postgres that would make up for a lost verdict. */
const openSubmit = async (): Promise<Submit> => {
  const now = Date.now
  const verdicts = createVerdicts({ store: createFakeVerdictStore(), timeout: 20_000, now, log })
  const stream = openStream({
    catalogue,
    kafka: losing(kafka),
    openLayout: async () => usualLayout,
    findGenerations: async () => [],
    checkTopics: async () => {},
    registry,
    patience: createPatience(log),
    failAt: () => {},
    crash,
    log,
  })
  stream.onVerdict(verdicts.settle)
  closing.push(stream.close)
  await stream.opened
  await eventually(stream.check)
  const ticking = setInterval(verdicts.tick, 200)
  closing.push(() => clearInterval(ticking))
  const send = createSubmit({
    count: () => () => {},
    placeOf: stream.placeOf,
    publish: stream.publish,
    publishWithin: 18_000,
    verdicts,
    figures: createFigures(createMetrics('edge')),
    now,
  })
  return (type, batches, options) => {
    sends = 0
    return send(type, batches, options)
  }
}

let sends = 0
/** The same Kafka, except that it does not take one of the batches, which go to it one at a time. */
const losing = (real: Kafka): Kafka => ({
  ...real,
  createProducer: async () => {
    const producer = await real.createProducer()
    return {
      ...producer,
      send: async (topic, partition, messages, options) => {
        sends++
        if (sends === world.lost) throw new Error('the broker is away')
        await producer.send(topic, partition, messages, options)
      },
    }
  },
})

submitContract(() => ({ submit, type, world }))
