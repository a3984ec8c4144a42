import type { Crash } from '../process/lifecycle.js'

export type Pulse = {
  /** When the group's coordinator last counted us as a member. */
  lastHeartbeat: () => number
  /** Throws, saying why, when the consumer has no part in its group or has heard nothing for too long. */
  check: () => void
  stop: () => void
}

/** What of a kafkajs consumer tells how it is. */
type Signs = {
  on(
    name: 'consumer.group_join' | 'consumer.heartbeat' | 'consumer.fetch' | 'consumer.rebalancing',
    listener: () => void,
  ): unknown
  on(name: 'consumer.crash', listener: (event: { payload: { error: Error; restart: boolean } }) => void): unknown
}

const silenceIsDeath = 60_000

export const watchPulse = (
  consumer: Signs,
  { groupId, sessionTimeout, crash }: { groupId: string; sessionTimeout: number; crash: Crash },
): Pulse => {
  let lastHeartbeat = 0
  let lastSign = Date.now()
  let isMember = false
  const sign = () => {
    lastSign = Date.now()
  }
  const accepted = () => {
    sign()
    isMember = true
    lastHeartbeat = Date.now()
  }
  consumer.on('consumer.group_join', accepted)
  consumer.on('consumer.heartbeat', accepted)
  consumer.on('consumer.fetch', sign)
  consumer.on('consumer.rebalancing', () => {
    isMember = false
  })
  consumer.on('consumer.crash', ({ payload }) => {
    isMember = false
    // A consumer that will not restart leaves a process that lives on and reads nothing.
    if (!payload.restart) crash(payload.error)
  })
  // A broker that timed out may never be reconnected: a fresh process is.
  const timer = setInterval(() => {
    if (Date.now() - lastSign > silenceIsDeath) crash(new Error(`consumer ${groupId} has heard nothing for a minute`))
  }, 5_000)
  timer.unref()
  return {
    lastHeartbeat: () => lastHeartbeat,
    check: () => {
      if (!isMember) throw new Error(`consumer ${groupId} has no partitions`)
      if (Date.now() - lastSign > sessionTimeout) throw new Error(`consumer ${groupId} hears nothing from Kafka`)
    },
    stop: () => clearInterval(timer),
  }
}
