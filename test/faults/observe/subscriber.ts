import { randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { typesOfPersons } from '#schemas/persons/about-persons.js'

/** Another team's copy of the records that name persons: the last message of each key, and nothing where that has no value. */
export const startSubscriber = async (brokers: string) => {
  const kafka = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING })
  const copy = new Map<string, string>()
  const consumer = kafka.consumer({ groupId: `subscriber-${randomUUID()}`, retry: { retries: 1_000 } })
  await consumer.connect()
  await consumer.subscribe({
    topics: typesOfPersons(catalogue).map(({ type }) => acceptedTopic(type)),
    fromBeginning: true,
  })
  await consumer.run({
    eachMessage: async ({ topic, message: { key, value } }) => {
      const name = `${topic} ${key}`
      if (value) copy.set(name, `${key} ${value.toString('latin1')}`)
      else copy.delete(name)
    },
  })
  return {
    /** What it has kept: by topic and key, the text of each message. */
    stop: async (): Promise<[string, string][]> => {
      await consumer.disconnect()
      return [...copy]
    },
  }
}
