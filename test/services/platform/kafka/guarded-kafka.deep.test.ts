import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { reasonOf } from '#platform/health/health.js'
import { createKafka, type Kafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import type { KafkaAccess } from '#platform/process/access.js'
import { createTopics } from '../../../support/create-topics.js'
import { eventually } from '../../../support/eventually.js'
import { type GuardedKafka, passwordOf, startGuardedKafka, type User } from '../../../support/guarded-kafka.js'

const log = pino({ level: 'silent' })
const topics = {
  submitted: 'weir.submitted.things',
  accepted: 'weir.accepted.things',
  interactions: 'weir.interactions',
  rejected: 'weir.rejected',
  verdicts: 'weir.verdicts',
  waiting: 'weir.waiting',
}
let kafka: GuardedKafka
let open: Kafka

beforeAll(async () => {
  kafka = await startGuardedKafka()
  open = createKafka({ brokers: kafka.open, clientId: 'open', log })
  await createTopics(open, ...Object.values(topics).map((topic) => ({ topic })))
})
afterAll(() => kafka?.stop(), 60_000)

const sendAs = async (access: KafkaAccess, topic: string, value: string): Promise<void> => {
  const producer = await createKafka({ ...access, clientId: 'test', log }).createProducer()
  try {
    await producer.send(topic, 0, [{ key: 'k', value: Buffer.from(value) }])
  } finally {
    await producer.close()
  }
}
const kept = async (topic: string): Promise<string[]> => {
  const values: string[] = []
  await readTopics(open, await stretchesOf(open, [topic]), async ({ messages }) => {
    values.push(...messages.map(({ value }) => String(value)))
  })
  return values
}

/** An endpoint that gives tokens without a signature, which the broker takes, for as many seconds as it is told. */
const openTokenEndpoint = async (seconds: number) => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  let given = 0
  const server = createServer((_, answer) => {
    given++
    const now = Date.now() / 1000
    const claims = encode({ sub: 'weir-edge', iat: now, exp: now + seconds })
    answer.end(JSON.stringify({ access_token: `${encode({ alg: 'none' })}.${claims}.`, expires_in: seconds }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, given: () => given }
}

describe('a login', () => {
  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const)('by %s over TLS', async (mechanism) => {
    const login = { mechanism, username: 'weir-edge', password: passwordOf('weir-edge') }
    await sendAs({ ...kafka.accessOf('weir-edge'), login }, topics.submitted, mechanism)
    expect(await kept(topics.submitted)).toContain(mechanism)
  })

  it('by a token, which is renewed before it ends, on connections that stay open', async () => {
    const endpoint = await openTokenEndpoint(20)
    const login = { mechanism: 'OAUTHBEARER', url: endpoint.url, clientId: 'edge', clientSecret: 'secret' } as const
    const access = { ...kafka.accessOf('weir-edge'), login }
    const producer = await createKafka({ ...access, clientId: 'token', log }).createProducer()
    onTestFinished(() => producer.close())
    const send = (value: string) => producer.send(topics.submitted, 0, [{ key: 'k', value: Buffer.from(value) }])
    await send('with the first token')
    const before = endpoint.given()
    for (const until = Date.now() + 23_000; Date.now() < until; await sleep(300)) await send('meanwhile')
    expect(endpoint.given()).toBeGreaterThan(before)
    await send('with a later token')
    expect(await kept(topics.submitted)).toContain('with a later token')
  })
})

describe('says in one line what to change', () => {
  const reasonFor = (access: KafkaAccess): Promise<string> =>
    sendAs(access, topics.submitted, 'never').then(
      () => 'it was let in',
      (error: Error) => error.message,
    )

  it.each(['PLAIN', 'SCRAM-SHA-512'] as const)('for a wrong password with %s', async (mechanism) => {
    const login = { mechanism, username: 'weir-edge', password: 'wrong' }
    const reason = await reasonFor({ ...kafka.accessOf('weir-edge'), login })
    expect(reason).toMatch(/^Kafka refuses the login \(SASL .*\): check KAFKA_SASL_MECHANISM and .*KAFKA_PASSWORD/)
  })

  it('for an authority that is not known', async () => {
    expect(await reasonFor({ ...kafka.accessOf('weir-edge'), tls: {} })).toMatch(
      /^Kafka has a certificate of an authority that is not trusted here \(.*\): name the file with .* in KAFKA_CA_FILE$/,
    )
  })

  it('for a broker that speaks TLS where we do not', async () => {
    expect(await reasonFor({ brokers: kafka.brokers })).toBe('Kafka speaks TLS there: set KAFKA_TLS=true')
  })

  it('for a broker that speaks no TLS where we do', async () => {
    expect(await reasonFor({ ...kafka.accessOf('weir-edge'), brokers: kafka.open })).toMatch(
      /^Kafka (does not speak TLS there|hung up before TLS began.*): .*leave KAFKA_TLS out/,
    )
  })

  it('for a login that is missing', async () => {
    const nobody = createKafka({ brokers: kafka.brokers, tls: { ca: kafka.ca }, clientId: 'nobody', log, retries: 0 })
    await expect(nobody.withAdmin((admin) => admin.describeCluster())).rejects.toThrow(
      'Kafka hung up without an answer: does it want a login? Then set KAFKA_SASL_MECHANISM',
    )
  })
})

it('appends nothing over TLS of a send that was given up, however late its connection heals', async () => {
  const topic = 'weir.submitted.given-up'
  await createTopics(open, { topic })
  const message = (value: string) => [{ key: 'k', value: Buffer.from(value) }]
  const stale = await createKafka({ ...kafka.accessOf('weir-edge'), clientId: 'stale', log }).createProducer()
  await stale.send(topic, 0, message('before'))
  kafka.link.freeze()
  const given = { deadline: performance.now() + 1_500 }
  await expect(stale.send(topic, 0, message('old'), given)).rejects.toThrow('Kafka did not take 1 messages')
  await sendAs({ brokers: kafka.open }, topic, 'newer')
  kafka.link.thaw()
  await eventually(() => stale.send(topic, 0, message('later')), 30_000)
  await stale.close()
  expect(await kept(topic)).toEqual(['before', 'newer', 'later'])
})

describe('the rights of deploy/kafka-acls.sh', () => {
  const { submitted, accepted, interactions, rejected, verdicts, waiting } = topics
  const rights: { user: User; writes: string[]; reads: string[] }[] = [
    { user: 'weir-edge', writes: [submitted], reads: [accepted, interactions, rejected, verdicts, waiting] },
    {
      user: 'weir-integrity',
      writes: [submitted, accepted, interactions, rejected, verdicts, waiting],
      reads: [submitted],
    },
    { user: 'weir-sink', writes: [rejected], reads: [accepted, interactions, rejected, waiting] },
    { user: 'weir-operator', writes: [submitted, accepted, interactions, rejected], reads: Object.values(topics) },
  ]
  /** The words that begin the names of a user's groups. */
  const groupOf = (user: User): string => (user === 'weir-operator' ? 'weir-reader-' : `${user}-`)

  const mayRead = (as: Kafka, user: User, topic: string): Promise<boolean> =>
    new Promise((resolve, reject) => {
      let consumer: { close: () => Promise<void> } | undefined
      const end = async (may: boolean) => {
        await consumer?.close()
        resolve(may)
      }
      as.consume({
        groupId: `${groupOf(user)}${topic}`,
        topics: [topic],
        fromBeginning: true,
        commits: false,
        onFetch: async () => void end(true),
        crash: (error) => (/[Nn]ot authorized/.test(error.message) ? void end(false) : reject(error)),
      }).then(
        (opened) => {
          consumer = opened
        },
        (error: Error) => (/[Nn]ot authorized/.test(error.message) ? resolve(false) : reject(error)),
      )
    })

  it.each(rights)('let $user write only $writes', async ({ user, writes }) => {
    const written: string[] = []
    for (const topic of Object.values(topics)) {
      // A producer for each: kafkajs asks about all topics of one together, and is told nothing of any if one is forbidden.
      const refusal = await sendAs(kafka.accessOf(user), topic, user).then(
        () => undefined,
        (error: Error) => reasonOf(error),
      )
      if (refusal === undefined) written.push(topic)
      else expect(refusal).toMatch(/[Nn]ot authorized/)
    }
    expect(written).toEqual(writes)
  })

  it.each(rights)('let $user read only $reads', async ({ user, reads }) => {
    for (const topic of Object.values(topics)) await sendAs({ brokers: kafka.open }, topic, 'to read')
    const as = createKafka({ ...kafka.accessOf(user), clientId: user, log, retries: 1 })
    const found: string[] = []
    for (const topic of Object.values(topics)) if (await mayRead(as, user, topic)) found.push(topic)
    expect(found).toEqual(reads)
  })

  it('let nobody delete a topic, and only the operator make one', async () => {
    for (const { user } of rights) {
      const as = createKafka({ ...kafka.accessOf(user), clientId: user, log })
      const deleted = as.withAdmin((admin) => admin.deleteTopics({ topics: [submitted] }))
      await expect(deleted, user).rejects.toThrow(/[Nn]ot authorized/)
      const made = as.withAdmin((admin) => admin.createTopics({ topics: [{ topic: `weir.submitted.by-${user}` }] }))
      if (user === 'weir-operator') expect(await made).toBe(true)
      else await expect(made, user).rejects.toThrow()
    }
  })
})
