import type { Crash } from '../process/lifecycle.js'

/** Whether a consumer still belongs to its group and still hears from Kafka. */
export type Pulse = {
  /** When the group's coordinator last counted this consumer as a member. */
  lastHeartbeat: () => number
  /** Throws, saying why, when the consumer is no member of its group or has heard nothing for too long. */
  check: () => void
  stop: () => void
}

/** The events of a kafkajs consumer that show whether it is alive. */
type ConsumerEvents = {
  on(
    name: 'consumer.group_join' | 'consumer.heartbeat' | 'consumer.fetch' | 'consumer.rebalancing',
    listener: () => void,
  ): unknown
  on(name: 'consumer.crash', listener: (event: { payload: { error: Error; restart: boolean } }) => void): unknown
}

const silenceIsDeath = 60_000

export const watchPulse = (
  consumer: ConsumerEvents,
  { groupId, sessionTimeout, crash }: { groupId: string; sessionTimeout: number; crash: Crash },
): Pulse => {
  let lastHeartbeat = 0
  let lastHeard = Date.now()
  let isMember = false
  const heard = () => {
    lastHeard = Date.now()
  }
  const accepted = () => {
    heard()
    isMember = true
    lastHeartbeat = Date.now()
  }
  consumer.on('consumer.group_join', accepted)
  consumer.on('consumer.heartbeat', accepted)
  consumer.on('consumer.fetch', heard)
  consumer.on('consumer.rebalancing', () => {
    isMember = false
  })
  consumer.on('consumer.crash', ({ payload }) => {
    isMember = false
    // kafkajs will not restart this consumer: without a crash the process would live on and read nothing.
    if (!payload.restart) crash(payload.error)
  })
  // kafkajs may never reconnect to a broker that timed out; a fresh process does.
  const timer = setInterval(() => {
    if (Date.now() - lastHeard > silenceIsDeath) crash(new Error(`consumer ${groupId} has heard nothing for a minute`))
  }, 5_000)
  timer.unref()
  return {
    lastHeartbeat: () => lastHeartbeat,
    check: () => {
      if (!isMember) throw new Error(`consumer ${groupId} has no partitions`)
      if (Date.now() - lastHeard > sessionTimeout) throw new Error(`consumer ${groupId} hears nothing from Kafka`)
    },
    stop: () => clearInterval(timer),
  }
}
