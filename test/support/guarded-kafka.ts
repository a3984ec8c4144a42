import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import type { KafkaAccess } from '#platform/process/access.js'
import { kafkaPart } from '../../deploy/embedded/servers/kafka.js'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import { superviseProcess } from '../../deploy/embedded/supervision/supervisor.js'
import { makeCertificate } from '../services/edge/network/certificates.js'
import { type Link, openLink } from './link.js'

export type GuardedKafka = {
  /** Over TLS and with a login, by a link that a test can cut. */
  brokers: string
  link: Link
  /** Without either, for whoever looks after the cluster: everything is allowed. */
  open: string
  /** The authority that signed the broker's certificate: as a file, and its text. */
  caFile: string
  ca: string
  /** What a user needs to get in. */
  accessOf: (user: User) => KafkaAccess
  /** The same, as variables of a service. */
  variablesOf: (user: User) => Record<string, string>
  stop: () => Promise<void>
}

const users = ['weir-edge', 'weir-integrity', 'weir-sink', 'weir-delivery', 'weir-operator'] as const
export type User = (typeof users)[number]

export const passwordOf = (user: User): string => `${user}-secret`

/** A Kafka that asks for TLS and a login, and gives each of Weir's services the rights of deploy/kafka-acls.sh. */
export const startGuardedKafka = async (): Promise<GuardedKafka> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-guarded-'))
  const [port = 0, guardedPort = 0] = await freePorts(2)
  const [pem, caFile] = [join(dataDir, 'broker.pem'), join(dataDir, 'ca.pem')]
  const { key, cert } = await makeCertificate('kafka')
  await writeFile(pem, `${key}\n${cert}\n`, { mode: 0o600 })
  await writeFile(caFile, cert)
  const passwords = Object.fromEntries(users.map((user) => [user, passwordOf(user)]))
  const link = await openLink({ host: '127.0.0.1', port: guardedPort })
  const guarded = { port: guardedPort, advertisedPort: link.port, pem, passwords }
  const part = superviseProcess(kafkaPart({ dataDir, port, guarded }), {
    dataDir,
    report: (line) => process.stderr.write(`${line}\n`),
  })
  const stop = async () => {
    await link.close()
    await part.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
  const brokers = `127.0.0.1:${link.port}`
  const open = `127.0.0.1:${port}`
  try {
    await part.start()
    await execa('deploy/kafka-acls.sh', ['--bootstrap-server', open], {
      env: { KAFKA_ACLS: 'test/support/kafka-acls.mjs' },
    })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...{ brokers, link, open, caFile, ca: cert, stop },
    accessOf: (username) => ({
      brokers,
      tls: { ca: cert },
      login: { mechanism: 'SCRAM-SHA-512', username, password: passwordOf(username) },
    }),
    variablesOf: (user) => ({
      KAFKA_BROKERS: brokers,
      KAFKA_TLS: 'true',
      KAFKA_CA_FILE: caFile,
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_USERNAME: user,
      KAFKA_PASSWORD: passwordOf(user),
    }),
  }
}
