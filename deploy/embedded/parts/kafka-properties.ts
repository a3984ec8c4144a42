/**
 * A second listener, for clients that reach the broker through a proxy: Kafka listens on `port`, and sends these clients back to
 * `advertisedPort`, which is the proxy's.
 */
export type Behind = { port: number; advertisedPort: number }

/** server.properties of one KRaft node that is its own controller and listens on loopback only. */
export const kafkaProperties = (options: {
  port: number
  controllerPort: number
  logDir: string
  behind?: Behind | undefined
}): string => {
  const { behind } = options
  const listen = (name: string, port: number | undefined) => (port === undefined ? [] : [`${name}://127.0.0.1:${port}`])
  const properties: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    // Named here, not stored when the log is formatted, so that every start may use another port for the controller.
    'controller.quorum.voters': `1@127.0.0.1:${options.controllerPort}`,
    listeners: [
      ...listen('BROKER', options.port),
      ...listen('BEHIND', behind?.port),
      ...listen('CONTROLLER', options.controllerPort),
    ].join(','),
    'advertised.listeners': [...listen('BROKER', options.port), ...listen('BEHIND', behind?.advertisedPort)].join(','),
    'listener.security.protocol.map': 'BROKER:PLAINTEXT,BEHIND:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'BROKER',
    'controller.listener.names': 'CONTROLLER',
    // A backslash would be read as an escape.
    'log.dirs': options.logDir.replaceAll('\\', '/'),
    'auto.create.topics.enable': false,
    // One broker, so no replica has a copy: a message is on the disk before it is acknowledged. Clusters leave that to the
    // system.
    'log.flush.interval.messages': 1,
    // One broker: every internal topic has one replica. Few partitions keep the start and the recovery short.
    'min.insync.replicas': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 8,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 4,
    // A broker that was killed and started again is let in only when its old session has expired, by default after 9 s.
    'broker.heartbeat.interval.ms': 1_000,
    'broker.session.timeout.ms': 4_000,
    // By default a new group waits 3 s for further members before it assigns partitions.
    'group.initial.rebalance.delay.ms': 0,
    // A submitted batch is one message; the edge bounds it far below this.
    'message.max.bytes': 32 * 1024 * 1024,
    'replica.fetch.max.bytes': 32 * 1024 * 1024,
  }
  const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}`)
  return `${lines.join('\n')}\n`
}
