import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createKafka } from '#platform/kafka/kafka.js'
import { waitUntilPublished } from '../../../../services/operator/rebuild/fill-index.js'
import { createTopics } from '../../../support/create-topics.js'
import { sharedParts } from '../../../support/shared-parts.js'

const kafka = createKafka({
  brokers: sharedParts.KAFKA_BROKERS,
  clientId: 'rebuild-test',
  log: pino({ level: 'silent' }),
})
const never = new AbortController().signal
const topic = `decided-${process.pid}-${Date.now()}`

it('waits for what is decided and not published, and says what to do when that does not come', async () => {
  await createTopics(kafka, { topic, numPartitions: 2 })
  const cursors = [
    { topic, partition: 0, next_offset: 0 },
    { topic, partition: 1, next_offset: 3 },
  ]
  await expect(waitUntilPublished(kafka, cursors, [], never, 500)).rejects.toThrow(
    'integrity has decided 3 batches that it has not published: start it, then try again',
  )
  const waiting = waitUntilPublished(kafka, cursors, [], never, 30_000)
  await kafka.withAdmin((admin) =>
    admin.setOffsets({ groupId: 'weir-integrity', topic, partitions: [{ partition: 1, offset: '3' }] }),
  )
  await waiting
})
