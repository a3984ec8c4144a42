import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Kafka, logLevel } from 'kafkajs'
import { topics } from './topics.js'

export type Floors = {
  url: string
  pid: number
  /** Milliseconds of each bare round trip through Kafka, one after another. */
  roundTrips: (times: number) => Promise<number[]>
  stop: () => void
}

/** Starts the floors on Weir's broker, as a process of their own. */
export const startFloors = async (brokers: string): Promise<Floors> => {
  await createTopics(brokers)
  const child = fork(fileURLToPath(new URL('./server.ts', import.meta.url)), {
    env: { ...process.env, KAFKA_BROKERS: brokers },
  })
  const [{ url }] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('the process of the floors did not start'))),
  ])) as [{ url: string }]
  return {
    url,
    pid: child.pid ?? 0,
    roundTrips: async (times) => {
      const answer = await fetch(`${url}/round-trips`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ times }),
      })
      return ((await answer.json()) as { took: number[] }).took
    },
    stop: () => {
      if (child.connected) child.disconnect()
    },
  }
}

const createTopics = async (brokers: string): Promise<void> => {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const bytes = { name: 'max.message.bytes', value: String(32 * 1024 * 1024) }
  await admin.createTopics({
    waitForLeaders: true,
    topics: Object.values(topics).map((topic) => ({
      topic,
      // The round trip is one message at a time; the others have as many partitions as Weir's topics of uploads.
      numPartitions: topic === topics.there || topic === topics.back ? 1 : 4,
      replicationFactor: 1,
      configEntries: [bytes],
    })),
  })
  await admin.disconnect()
}
