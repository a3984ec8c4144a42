import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { packageRoot } from '#platform/process/package-root.js'
import type { ProcessDefinition } from '../supervision/supervisor.js'
import {
  archiveOptions,
  jarsDir,
  javaCommand,
  javaEnvironment,
  javaOptions,
  javaProperties,
  lightJava,
} from './java.js'
import { freePorts } from './ports.js'

/** Apache Kafka, one KRaft node. Its data is in <dataDir>/kafka. */
export const kafkaPart = (options: {
  dataDir: string
  port: number
  behind?: Behind
  guarded?: Guarded
  node?: ClusterNode
}): ProcessDefinition => {
  const { dataDir, port, behind, guarded, node = alone } = options
  const home = join(dataDir, 'kafka')
  const logDir = join(home, 'log')
  const propertiesFile = join(home, 'server.properties')
  const java = javaCommand(process.env.JAVA_HOME)
  const classes = [
    ...lightJava,
    ...javaOptions,
    ...archiveOptions('kafka'),
    // As a URL, in which blanks and letters beyond ASCII are escaped; a comma would begin the name of a second file.
    `-Dlog4j2.configurationFile=${pathToFileURL(join(packageRoot, 'deploy/embedded/servers/log4j2.properties')).href.replaceAll(',', '%2C')}`,
    '-cp',
    join(jarsDir('kafka'), '*'),
  ]

  return {
    name: 'kafka',
    port,
    command: java,
    // An idle Kafka takes 350 MB; -Xmx leaves room for a few requests of the largest size.
    args: ['-Xms256m', '-Xmx768m', endAtDiskFault, ...classes, 'kafka.Kafka', propertiesFile],
    env: { ...javaEnvironment, PATH: [join(packageRoot, 'deploy/embedded/servers'), process.env.PATH].join(delimiter) },
    prepare: async (signal) => {
      await mkdir(home, { recursive: true })
      const controllerPort = node.controllerPort ?? (await freePorts(1))[0] ?? 0
      await writeFile(propertiesFile, kafkaProperties({ port, controllerPort, logDir, behind, guarded, node }))
      if (existsSync(join(logDir, 'meta.properties'))) return
      // With `=`, because one id in 64 begins with a hyphen and would be taken for an option.
      const id = `--cluster-id=${await clusterId(home)}`
      const format = ['format', '--ignore-formatted', id, '-c', propertiesFile, ...scramUsers(guarded)]
      await promisify(execFile)(java, [...classes, 'kafka.tools.StorageTool', ...format], {
        env: { ...process.env, ...javaEnvironment },
        maxBuffer: 16 << 20,
        signal,
      })
    },
    isReady: () => answersKafka(port, hostOf(node)),
    neededBy: ['edge', 'integrity', 'sink', 'delivery'],
    stopsBy: 'closes its logs',
  }
}

/**
 * Kafka writes its indexes through memory-mapped files. When a full disk has no room for a page of such a file, Java throws an
 * InternalError, which Kafka takes for the fault of that one request. From then on every write to the partition fails, yet lands
 * in the log with an offset that is there already; and a Kafka that is started again deletes such a log. So Java's debugger
 * agent, which costs nothing until that error is thrown, ends Kafka in the middle of the first such write.
 */
const endAtDiskFault =
  '-agentlib:jdwp=transport=dt_socket,address=127.0.0.1:0,server=y,onthrow=java.lang.InternalError,launch=end-kafka.sh'

/** Made once and kept: a formatting that was interrupted is repeated with the same id. */
const clusterId = async (home: string): Promise<string> => {
  const file = join(home, 'cluster-id')
  if (!existsSync(file)) await writeFile(file, randomBytes(16).toString('base64url'))
  return (await readFile(file, 'utf8')).trim()
}

/** A second listener on `port`, for clients behind a proxy, whom Kafka sends back to the proxy's `advertisedPort`. */
export type Behind = { port: number; advertisedPort: number }

/** For tests: one of several nodes, each broker and controller, that listen at the same ports of hosts of their own. */
export type ClusterNode = { id: number; hosts: readonly string[]; controllerPort?: number }

const alone: ClusterNode = { id: 1, hosts: ['127.0.0.1'] }
const hostOf = ({ id, hosts }: ClusterNode): string => hosts[id - 1] ?? ''

/** For tests: over TLS, with logins and access rules. Those who come by the part's own port may do anything, as before. */
type Guarded = Behind & {
  /** File with the private key and the certificate (PEM). */
  pem: string
  passwords: Readonly<Record<string, string>>
}

const scramUsers = (guarded: Guarded | undefined): string[] =>
  Object.entries(guarded?.passwords ?? {}).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  )

const guardedProperties = ({ pem, passwords }: Guarded): Record<string, string | number> => {
  const login = (name: string, options = '') => `org.apache.kafka.common.security.${name} required ${options};`
  const users = Object.entries(passwords).map(([name, password]) => `user_${name}="${password}"`)
  return {
    'listener.name.guarded.ssl.keystore.type': 'PEM',
    'listener.name.guarded.ssl.keystore.location': pem,
    'listener.name.guarded.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
    'listener.name.guarded.plain.sasl.jaas.config': login('plain.PlainLoginModule', users.join(' ')),
    'listener.name.guarded.scram-sha-256.sasl.jaas.config': login('scram.ScramLoginModule'),
    'listener.name.guarded.scram-sha-512.sasl.jaas.config': login('scram.ScramLoginModule'),
    // Any token is good whose times are right, signed or not.
    'listener.name.guarded.oauthbearer.sasl.jaas.config': login('oauthbearer.OAuthBearerLoginModule'),
    // A session ends with its token.
    'listener.name.guarded.oauthbearer.connections.max.reauth.ms': 3_600_000,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
  }
}

/** server.properties of one KRaft node that is its own controller and listens on loopback only. */
export const kafkaProperties = (options: {
  port: number
  controllerPort: number
  logDir: string
  behind?: Behind | undefined
  guarded?: Guarded | undefined
  node?: ClusterNode
}): string => {
  const { behind, guarded, node = alone } = options
  const copies = Math.min(3, node.hosts.length)
  const inSync = Math.floor(copies / 2) + 1
  const listen = (name: string, port: number | undefined) =>
    port === undefined ? [] : [`${name}://${hostOf(node)}:${port}`]
  const properties: Record<string, string | number | boolean> = {
    'process.roles': 'broker,controller',
    'node.id': node.id,
    // Named here, not stored when the log is formatted, so that every start may use another port for the controller.
    'controller.quorum.voters': node.hosts.map((host, n) => `${n + 1}@${host}:${options.controllerPort}`).join(','),
    listeners: [
      ...listen('BROKER', options.port),
      ...listen('BEHIND', behind?.port),
      ...listen('GUARDED', guarded?.port),
      ...listen('CONTROLLER', options.controllerPort),
    ].join(','),
    'advertised.listeners': [
      ...listen('BROKER', options.port),
      ...listen('BEHIND', behind?.advertisedPort),
      ...listen('GUARDED', guarded?.advertisedPort),
    ].join(','),
    'listener.security.protocol.map': 'BROKER:PLAINTEXT,BEHIND:PLAINTEXT,GUARDED:SASL_SSL,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'BROKER',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': options.logDir,
    'auto.create.topics.enable': false,
    // One broker, so no replica has a copy: a message is on the disk before it is acknowledged. Clusters need not do so.
    ...(copies === 1 && { 'log.flush.interval.messages': 1 }),
    // The internal topics; of one broker with one replica. Few partitions keep the start and the recovery short.
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': copies,
    'offsets.topic.num.partitions': 8,
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': inSync,
    'share.coordinator.state.topic.num.partitions': 4,
    // A broker that was killed and started again is let in only when its old session has expired, by default after 9 s.
    'broker.heartbeat.interval.ms': 1_000,
    'broker.session.timeout.ms': 4_000,
    // Each of the 150 logs is flushed and closed at a stop, and opened at a start: by default two at a time.
    'num.recovery.threads.per.data.dir': 8,
    // By default a new group waits 3 s for further members before it assigns partitions.
    'group.initial.rebalance.delay.ms': 0,
    // By default the thread that compacts sleeps for 15 s, twice while messages are removed.
    'log.cleaner.backoff.ms': 1_000,
    // It empties a map of this size before each partition, also of a few messages: 0.7 to 1.8 s beside uploads with the usual 128 MiB. A million keys
    // fit into this one; a partition in which more are new is gone through several times.
    'log.cleaner.dedupe.buffer.size': 32 * 1024 * 1024,
    // By default a consumer may not ask for less than 6 s (KAFKA_SESSION_TIMEOUT_MS).
    'group.min.session.timeout.ms': 1_000,
    // A submitted batch is one message; the edge bounds it far below this.
    'message.max.bytes': 32 * 1024 * 1024,
    'replica.fetch.max.bytes': 32 * 1024 * 1024,
    ...(guarded && guardedProperties(guarded)),
  }
  return javaProperties(properties)
}

const WITHIN_MS = 2_000

/** Asked in Kafka's own protocol: a client library logs errors this early, and waits longer than the start takes. */
const answersKafka = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host })
    const finish = (isReady: boolean) => {
      socket.destroy()
      resolve(isReady)
    }
    let received = Buffer.alloc(0)
    socket.setTimeout(WITHIN_MS, () => finish(false))
    socket.once('error', () => finish(false))
    socket.once('close', () => finish(false))
    socket.once('connect', () => socket.write(metadataRequest()))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length >= 12) finish(brokerCount(received) > 0)
    })
  })

// A metadata request, version 1, for no topic at all: length, API key 3, version 1, correlation id, client id, an empty array.
const metadataRequest = (): Buffer => {
  const clientId = Buffer.from('weir-launcher')
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + clientId.length + 4)
  let at = request.writeInt32BE(request.length - 4)
  at = request.writeInt16BE(3, at)
  at = request.writeInt16BE(1, at)
  at = request.writeInt32BE(1, at)
  at = request.writeInt16BE(clientId.length, at)
  at += clientId.copy(request, at)
  request.writeInt32BE(0, at)
  return request
}

// The answer begins with its length, the correlation id and the number of brokers, of which one that is starting is not counted.
const brokerCount = (response: Buffer): number => response.readInt32BE(8)
