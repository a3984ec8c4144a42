import type { Crash } from '../process/lifecycle.js'

/** Whether a consumer still belongs to its group and still hears from Kafka. */
export type Pulse = ReturnType<typeof watchPulse>

/** The events of a kafkajs consumer that show whether it is alive. */
type ConsumerEvents = {
  on(
    name: 'consumer.group_join' | 'consumer.heartbeat' | 'consumer.fetch' | 'consumer.rebalancing',
    listener: () => void,
  ): unknown
  on(name: 'consumer.crash', listener: (event: { payload: { error: Error; restart: boolean } }) => void): unknown
}

const silenceIsDeath = 60_000
// How long kafkajs may take to find a Kafka again that answers others.
const patience = 30_000
const lookEvery = 5_000

export const watchPulse = (
  consumer: ConsumerEvents,
  deps: {
    groupId: string
    sessionTimeout: number
    /** Whether Kafka answers on a connection of its own. */
    isThere: () => Promise<boolean>
    crash: Crash
  },
) => {
  const { groupId, sessionTimeout } = deps
  // On the clock that never steps: a machine whose time is set has not fallen silent.
  let lastHeard = performance.now()
  let lastHeartbeat = { at: Number.NEGATIVE_INFINITY, time: 0 }
  let isMember = false
  const heard = () => {
    lastHeard = performance.now()
  }
  const accepted = () => {
    heard()
    isMember = true
    lastHeartbeat = { at: performance.now(), time: Date.now() }
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
    if (!payload.restart) deps.crash(payload.error)
  })
  // kafkajs may never reconnect to a broker that timed out; a fresh process does. Where Kafka itself is away, it would not either.
  let thereSince: number | undefined
  let isAsking = false
  const look = async (): Promise<void> => {
    const isSilent = () => performance.now() - lastHeard > silenceIsDeath
    if (isAsking) return
    isAsking = true
    const isThere = isSilent() && (await deps.isThere().catch(() => false))
    isAsking = false
    thereSince = isThere && isSilent() ? (thereSince ?? performance.now()) : undefined
    if (thereSince !== undefined && performance.now() - thereSince > patience)
      deps.crash(new Error(`consumer ${groupId} has heard nothing for a minute, and Kafka answers`))
  }
  const timer = setInterval(look, lookEvery)
  timer.unref()
  return {
    /**
     * Whether the group's coordinator still counts this consumer as a member, as far as we can know: it did so less than a session
     * ago. By both clocks: the one that steps when somebody sets it, and the one that stands still while the machine sleeps.
     */
    isHeld: (): boolean =>
      performance.now() - lastHeartbeat.at < sessionTimeout && Date.now() - lastHeartbeat.time < sessionTimeout,
    /** Throws, saying why, when the consumer is no member of its group or has heard nothing for too long. */
    check: (): void => {
      if (!isMember) throw new Error(`consumer ${groupId} has no partitions`)
      if (performance.now() - lastHeard > sessionTimeout)
        throw new Error(`consumer ${groupId} hears nothing from Kafka`)
    },
    stop: () => clearInterval(timer),
  }
}
