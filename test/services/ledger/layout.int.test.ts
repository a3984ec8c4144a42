import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { refuseAddedPartition, untilPartitioned, watchPartitions } from '#ledger/layout/check-layout.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { createPatience } from '#platform/process/patience.js'
import { createTopics } from '../../support/create-topics.js'
import { eventually } from '../../support/eventually.js'
import { sharedParts } from '../../support/shared-parts.js'

const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers: sharedParts.KAFKA_BROKERS, clientId: 'layout-test', log })
const layout = { lanes: 1, submittedPartitions: 2, acceptedPartitions: 2 }

it('says while a service runs that partitions were added by hand, and lets integrity start all the same', async () => {
  const topic = `weir.submitted.grown-${randomBytes(4).toString('hex')}`
  await createTopics(kafka, { topic, numPartitions: 2 })
  const { check, stop } = watchPartitions({ kafka, layout, topics: [topic], log }, 100)
  try {
    check()
    await kafka.withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] }))
    await eventually(() =>
      expect(check).toThrow(`${topic} has 3 instead of 2. Is KAFKA_BROKERS the right Kafka? If so`),
    )
    expect(check).toThrow('"A partition was added by hand" in docs/runbook.md')
  } finally {
    stop()
  }
  await untilPartitioned(kafka, createPatience(log), layout, [topic], { orMore: true })
  // All others wait, and say why.
  const patience = createPatience(log)
  void untilPartitioned(kafka, patience, layout, [topic])
  await eventually(() => expect(() => patience.check('partitions')).toThrow(`${topic} has 3 instead of 2`))
  expect(() => refuseAddedPartition(layout, { topic, partition: 1 })).not.toThrow()
  expect(() => refuseAddedPartition(layout, { topic, partition: 2 })).toThrow('no edge writes to it')
  // So that those that wait end.
  await kafka.withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
  await eventually(() => createTopics(kafka, { topic, numPartitions: 2 }))
  await eventually(() => expect(() => patience.check('partitions')).not.toThrow())
})

it('waits also where there may be more, as long as there are fewer', async () => {
  const topic = `weir.submitted.short-${randomBytes(4).toString('hex')}`
  await createTopics(kafka, { topic, numPartitions: 1 })
  const patience = createPatience(log)
  const started = untilPartitioned(kafka, patience, layout, [topic], { orMore: true })
  await eventually(() => expect(() => patience.check('partitions')).toThrow(`${topic} has 1 instead of 2`))
  await kafka.withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }))
  await started
})
