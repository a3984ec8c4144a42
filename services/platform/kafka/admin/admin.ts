import { setTimeout as wait } from 'node:timers/promises'
import type { Kafka as Client } from 'kafkajs'

export type Admin = ReturnType<Client['admin']>

/** Whether Kafka says that an error passes by itself: a leader is being chosen, a coordinator still reads its log. */
export const isPassing = (error: unknown): boolean => (error as { retriable?: boolean }).retriable === true

/** Runs work with an admin connection that is closed afterwards. */
export const withAdmin = <T>(client: Client, work: (admin: Admin) => Promise<T>): Promise<T> =>
  withNew(client, (admin) => work(patient(client, admin)))

const thereWithin = 30_000

// A Kafka that was just started, or whose leader has just changed, refuses to tell offsets for a moment. kafkajs does not ask again, and
// goes on asking the broker that it knew: so what is asked again is asked by a new admin, which looks for the leader and the coordinator.
const patient = (client: Client, admin: Admin): Admin => {
  const patiently = async <T>(ask: (admin: Admin) => Promise<T>): Promise<T> => {
    const deadline = performance.now() + thereWithin
    for (let asked = ask(admin); ; asked = withNew(client, ask)) {
      try {
        return await asked
      } catch (error) {
        if (!isPassing(error) || performance.now() > deadline) throw error
      }
      await wait(200)
    }
  }
  return {
    ...admin,
    fetchOffsets: (options) => patiently((one) => one.fetchOffsets(options)),
    fetchTopicOffsets: (topic) => patiently((one) => one.fetchTopicOffsets(topic)),
    fetchTopicOffsetsByTimestamp: (topic, since) => patiently((one) => one.fetchTopicOffsetsByTimestamp(topic, since)),
  }
}

const withNew = async <T>(client: Client, ask: (admin: Admin) => Promise<T>): Promise<T> => {
  const admin = client.admin()
  await admin.connect()
  try {
    return await ask(admin)
  } finally {
    await admin.disconnect()
  }
}
