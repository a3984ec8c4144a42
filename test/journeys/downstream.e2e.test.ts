import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import { Kafka, logLevel } from 'kafkajs'
import { expect, it } from 'vitest'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { beginHere } from '../support/system/groups.js'
import { newOrganisation, system } from '../support/system/system.js'

const org = await newOrganisation('downstream')
const groupOf = (topic: string): string => `${org.name}-${topic}`
for (const topic of ['weir.accepted.shops', 'weir.rejected', 'weir.interactions'])
  await beginHere(system.env.KAFKA_BROKERS, [groupOf(topic)], [topic])

/** What a downstream team writes: kafkajs, the registry, nothing of ours. */
const subscribe = async (topic: string) => {
  const registry = new SchemaRegistry({ host: system.env.SCHEMA_REGISTRY_URL })
  const kafka = new Kafka({ brokers: system.env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId: groupOf(topic), maxWaitTimeInMs: 100 })
  const events: { key: string | undefined; value: Record<string, unknown> }[] = []
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message }) => {
      const value = await registry.decode(message.value as Buffer)
      if (value.org_id === org.name) events.push({ key: message.key?.toString(), value })
    },
  })
  return { events, stop: () => consumer.disconnect() }
}

it('finds accepted records on their topic, keyed by organisation and id, with growing versions', async () => {
  const record = sampleOf(shop, { name: 'first' })
  await org.uploader.upload('shops', [record])
  const { body } = await org.uploader.upload('shops', [{ ...record, name: 'second' }, {}])
  const team = await subscribe('weir.accepted.shops')
  try {
    await eventually(() => expect(team.events).toHaveLength(2))
  } finally {
    await team.stop()
  }
  const [first, second] = team.events
  expect(first?.key).toBe(`${org.name}/${record.shop_id}`)
  expect(second?.key).toBe(first?.key)
  expect(second?.value).toMatchObject({
    org_id: org.name,
    request_id: body.request_id,
    batch_id: body.batches[0]?.data.batch_id,
    shop_id: record.shop_id,
    name: 'second',
    region: 'GB',
  })
  expect(Number(second?.value.version)).toBeGreaterThan(Number(first?.value.version))
})

it('finds refused records on weir.rejected, and interactions on weir.interactions', async () => {
  const record = sampleOf(shop)
  const { body } = await org.uploader.upload('shops', [record, { shop_id: 'nothing else' }])
  const given = sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id: record.shop_id })
  const { body: recorded } = await org.uploader.interact<{ interaction_id: string }>(given)

  const rejected = await subscribe('weir.rejected')
  const interactions = await subscribe('weir.interactions')
  try {
    await eventually(() => {
      const found = rejected.events.find(({ value }) => value.request_id === body.request_id)
      expect(found?.value).toMatchObject({
        type: 'shops',
        index: 1,
        id: 'nothing else',
        record: '{"shop_id":"nothing else"}',
      })
    })
    await eventually(() => {
      const ids = interactions.events.map(({ value }) => value.interaction_id)
      expect(ids).toContain(recorded.interaction_id)
    })
  } finally {
    await rejected.stop()
    await interactions.stop()
  }
})
