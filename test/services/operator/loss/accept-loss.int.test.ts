import { randomBytes } from 'node:crypto'
import { Command } from 'commander'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { committedByPlace } from '#platform/kafka/committed-offsets.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { firstRow } from '#platform/postgres/rows.js'
import { createRegistry } from '#platform/registry.js'
import { createCatalogue } from '#schemas/catalogue.js'
import { submittedSchema, verdictSchema } from '#schemas/derive/avro.js'
import { edgeGroups, subjectOf, submittedTopic, verdictsTopic } from '#schemas/derive/names.js'
import { groupsOf } from '#schemas/derive/topics.js'
import type { SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import { moment, text, uuid } from '#schemas/field.js'
import { lifecycle, record } from '#schemas/record.js'
import { versionOf } from '#schemas/version.js'
import { followVerdicts } from '../../../../services/edge/stream/verdicts.js'
import { createEntityIndex } from '../../../../services/integrity/entity-index.js'
import { takeDecisions } from '../../../../services/integrity/take-decisions.js'
import type { Session } from '../../../../services/operator/command/session.js'
import { addAcceptLoss } from '../../../../services/operator/loss/accept-loss.js'
import type { Loss } from '../../../../services/operator/loss/find-losses.js'
import { provisionSubjects } from '../../../../services/operator/provision/subjects.js'
import { provisionTopics } from '../../../../services/operator/provision/topics.js'
import { batchOf } from '../../../support/batch.js'
import { eventually } from '../../../support/eventually.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { sampleOf } from '../../../support/sample.js'
import { sharedParts } from '../../../support/shared-parts.js'

const parts = sharedParts
const log = pino({ level: 'silent' })
const kafka = createKafka({ brokers: parts.KAFKA_BROKERS, clientId: 'loss-test', log })
const registry = createRegistry(parts.SCHEMA_REGISTRY_URL)
const { pool } = await openMigratedDatabase()
let producer: Awaited<ReturnType<typeof kafka.createProducer>>
beforeAll(async () => {
  producer = await kafka.createProducer()
})
afterAll(() => producer.close())

/** A type that no other test knows, with its part of the log and an integrity that decides what lies there. */
const newType = async () => {
  const stem = `lost-${randomBytes(4).toString('hex')}`
  const thing = record({
    type: stem,
    id: 'thing_id',
    about: 'A thing.',
    fields: { thing_id: uuid(), size: text(), ...lifecycle },
  })
  const look = record({
    type: `${stem}-seen`,
    id: 'seen_id',
    about: 'A look.',
    assigned: { seen_id: uuid() },
    fields: { at: moment() },
  })
  const catalogue = createCatalogue([thing], look)
  const topic = submittedTopic(thing.type)
  await provisionTopics(kafka, catalogue, 1)
  await provisionSubjects(registry, catalogue)
  const encode = await registry.encoder<SubmittedBatch>(subjectOf(topic), submittedSchema(thing))
  const partition = partitionOf('acme', 4)
  const at = { topic, partition, type: thing, isReferenced: false }

  const newBatch = () => batchOf(thing, [sampleOf(thing)], { gathered: false, keyed_requests: [] })
  const submit = async (...batches: SubmittedBatch[]) => {
    for (const batch of batches) await producer.send(topic, partition, [{ key: 'acme', value: encode(batch) }])
  }
  const decide = (first: number, ...batches: SubmittedBatch[]) => {
    const submitted = batches.map((batch, i) => ({ offset: first + i, timestamp: Date.now(), batch }))
    const span = { ...at, first, next: first + batches.length }
    return inTransaction(pool, (connection) =>
      takeDecisions(connection, createEntityIndex(10), span, submitted, Date.now()),
    )
  }
  const endOfLog = async () =>
    (await stretchesOf(kafka, [topic])).find((stretch) => stretch.partition === partition)?.until
  /** As after a machine died that had not flushed: the log ends earlier than it did. */
  const cutTo = async (...kept: SubmittedBatch[]) => {
    await kafka.withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
    await eventually(async () => {
      await provisionTopics(kafka, catalogue, 1)
      expect(await endOfLog()).toBe(0)
    })
    await submit(...kept)
  }
  const edges = new Set<string>()
  const hooks: { beforeFill?: () => Promise<void> } = {}
  // Other tests may run edges on this Kafka.
  const ownKafka: typeof kafka = {
    ...kafka,
    withAdmin: (work) =>
      kafka.withAdmin((admin) => {
        const listGroups = async () => ({
          groups: (await admin.listGroups()).groups.filter(({ groupId }) => edges.has(groupId)),
        })
        return work({ ...admin, listGroups })
      }),
    createProducer: async () => {
      await hooks.beforeFill?.()
      return kafka.createProducer()
    },
  }
  const printed: string[] = []
  const session = {
    catalogue,
    withParts: (_: unknown, work: (open: unknown) => Promise<unknown>) => work({ pool, kafka: ownKafka, registry }),
    print: (line: string) => void printed.push(line),
    note: (line: string) => void printed.push(line),
  } as unknown as Session
  const acceptLoss = async (...words: string[]): Promise<string> => {
    printed.length = 0
    const program = new Command()
    addAcceptLoss(program, session)
    await program.parseAsync(['accept-loss', ...words], { from: 'user' })
    return printed.join('\n')
  }
  return { catalogue, topic, partition, newBatch, submit, decide, cutTo, endOfLog, acceptLoss, edges, hooks }
}

it('names what Kafka lost, changes nothing without --yes, and then lets the partition go on with higher versions', async () => {
  const { topic, partition, newBatch, submit, decide, cutTo, endOfLog, acceptLoss } = await newType()
  const [a, b, c, d, stranger, later] = Array.from({ length: 6 }, newBatch) as [
    SubmittedBatch,
    SubmittedBatch,
    SubmittedBatch,
    SubmittedBatch,
    SubmittedBatch,
    SubmittedBatch,
  ]
  await submit(a, b, c, d)
  await decide(0, a, b, c, d)
  expect(await acceptLoss()).toBe('Nothing is lost: log and Postgres fit together.')

  await cutTo(a, b)
  await submit(stranger)
  const told = await acceptLoss()
  expect(told).toContain(`${topic}/${partition}: offsets 2 to 3 were decided, and Kafka has lost them.`)
  for (const { batch_id } of [c, d, stranger]) expect(told).toContain(batch_id)
  for (const { batch_id } of [a, b]) expect(told).not.toContain(batch_id)
  expect(told).toContain('Nothing was changed.')
  expect(await endOfLog()).toBe(3)
  await expect(decide(2, stranger)).rejects.toThrow('lies below the cursor, but has no verdict')

  const { accepted, losses } = JSON.parse(await acceptLoss('--yes', '--json')) as { accepted: boolean; losses: Loss[] }
  expect(accepted).toBe(true)
  expect(losses).toMatchObject([
    {
      by: 'Kafka',
      from: 2,
      until: 4,
      decided: [{ batch_id: c.batch_id }, { batch_id: d.batch_id }],
      undecided: [{ batch_id: stranger.batch_id, org_id: 'acme', records: 1 }],
    },
  ])
  // The next batch gets an offset that no batch had before: its versions are higher than those of what was lost.
  expect(await endOfLog()).toBe(4)
  expect((await decide(2, stranger, newBatch())).forgotten).toHaveLength(2)
  await submit(later)
  const [outcome] = (await decide(4, later)).outcomes
  expect(outcome?.verdict).toMatchObject({ accepted: 1, submitted_offset: 4 })
  expect(versionOf(4, 0)).toBeGreaterThan(versionOf(3, 8191))
  expect(await acceptLoss()).toBe('Nothing is lost: log and Postgres fit together.')
})

it('changes nothing while an edge runs, whose batches would land on the lost offsets', async () => {
  const { newBatch, submit, decide, cutTo, endOfLog, acceptLoss, edges } = await newType()
  const [a, b, c] = Array.from({ length: 3 }, newBatch) as [SubmittedBatch, SubmittedBatch, SubmittedBatch]
  await submit(a, b)
  await decide(0, a, b)
  await cutTo(a)
  await submit(c)
  const edge = await followVerdicts({ kafka, registry, onVerdict: () => {}, crash: () => {}, log })
  try {
    await eventually(() => edge.check())
    const { groups } = await kafka.withAdmin((admin) => admin.listGroups())
    for (const { groupId } of groups) if (groupId.startsWith(edgeGroups)) edges.add(groupId)
    await expect(acceptLoss('--yes')).rejects.toThrow('an edge runs')
    expect(await acceptLoss()).toContain(c.batch_id)
    await expect(decide(1, c)).rejects.toThrow('lies below the cursor, but has no verdict')
  } finally {
    await edge.close()
  }
  edges.clear()
  await acceptLoss('--yes')
  expect(await endOfLog()).toBe(2)
})

it('names a batch that comes to a lost offset at the last moment', async () => {
  const { newBatch, submit, decide, cutTo, endOfLog, acceptLoss, hooks } = await newType()
  const [a, b, c, late] = Array.from({ length: 4 }, newBatch) as [
    SubmittedBatch,
    SubmittedBatch,
    SubmittedBatch,
    SubmittedBatch,
  ]
  await submit(a, b, c)
  await decide(0, a, b, c)
  await cutTo(a)
  hooks.beforeFill = () => submit(late)
  const { losses } = JSON.parse(await acceptLoss('--yes', '--json')) as { losses: Loss[] }
  expect(losses).toMatchObject([{ from: 1, until: 3, undecided: [{ batch_id: late.batch_id, offset: 1 }] }])
  expect(await endOfLog()).toBe(3)
})

it('loses nothing where a partition was added by hand: all is decided, the topic made anew, its offsets filled', async () => {
  const { catalogue, topic, partition, newBatch, submit, decide, cutTo, endOfLog, acceptLoss } = await newType()
  const [a, b] = [newBatch(), newBatch()]
  await submit(a, b)
  await kafka.withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 5 }] }))
  await eventually(async () =>
    expect(provisionTopics(kafka, catalogue, 1)).rejects.toThrow(`${topic} has 5 instead of 4`),
  )
  // As the runbook says: integrity decides and publishes what is there, and only then the topic goes.
  expect((await decide(0, a, b)).outcomes).toHaveLength(2)
  await cutTo()
  expect(await acceptLoss('--yes')).toContain(`${topic}/${partition}: offsets 0 to 1 were decided`)
  expect(await endOfLog()).toBe(2)
  const later = newBatch()
  await submit(later)
  expect((await decide(2, later)).outcomes[0]?.verdict).toMatchObject({ accepted: 1, submitted_offset: 2 })
  expect(await acceptLoss()).toBe('Nothing is lost: log and Postgres fit together.')
})

it('finds a log that was cut and has grown past the cursor again', async () => {
  const { newBatch, submit, decide, cutTo, acceptLoss } = await newType()
  const [a, b, c] = Array.from({ length: 3 }, newBatch) as [SubmittedBatch, SubmittedBatch, SubmittedBatch]
  await submit(a, b, c)
  await decide(0, a, b, c)
  await cutTo(a)
  await submit(...Array.from({ length: 5 }, newBatch))
  const { losses } = JSON.parse(await acceptLoss('--json')) as { losses: Loss[] }
  expect(losses).toMatchObject([{ by: 'Kafka', from: 1, until: 3, decided: [{}, {}], undecided: [{}, {}] }])
})

const publishVerdicts = async (...verdicts: VerdictEvent[]) => {
  const encode = await registry.encoder<VerdictEvent>(subjectOf(verdictsTopic), verdictSchema())
  const messages = verdicts.map((verdict) => ({ key: verdict.batch_id, value: encode(verdict) }))
  await producer.send(verdictsTopic, 0, messages)
}

it('lets integrity decide again what a Postgres that went back knows nothing of', async () => {
  const { catalogue, topic, partition, newBatch, submit, decide, acceptLoss } = await newType()
  const [a, b] = [newBatch(), newBatch()]
  await submit(a, b)
  await decide(0, a)
  const { org_id, request_id, batch_id, batch, batches, first_index, body_sha256 } = b
  const published: VerdictEvent = {
    ...{ org_id, request_id, batch_id, batch, batches, first_index, body_sha256 },
    ...{ type: 'things', decided_at: Date.now() - 3_600_000, accepted: 1, refused: [] },
  }
  await publishVerdicts(published, { ...published, decided_at: Date.now() })
  const { groupId } = groupsOf(catalogue).uploads
  const committed = async () =>
    (await committedByPlace(kafka, [{ groupId, topics: [topic] }])).get(`${topic}/${partition}`)
  await kafka.withAdmin((admin) => admin.setOffsets({ groupId, topic, partitions: [{ partition, offset: '2' }] }))
  expect(await acceptLoss()).toContain(
    `${topic}/${partition}: offsets 1 to 1 were decided and published, and Postgres knows nothing of them.`,
  )
  expect(await committed()).toBe(2)
  const change = async () =>
    (await firstRow<{ n: number }>(pool, `select nextval('integrity.waiting_changes') as n`))?.n
  const before = Number(await change())
  await acceptLoss('--yes')
  // What is told of waiting records from now on is later than anything that was told and is forgotten.
  expect(await change()).toBeGreaterThan(before + 1_000_000)
  expect(await committed()).toBe(1)
  const c = newBatch()
  await submit(c)
  const { outcomes } = await decide(1, b, c)
  expect(outcomes.map(({ verdict }) => verdict.decided_at)).toEqual([published.decided_at, expect.any(Number)])
  expect(outcomes[1]?.verdict.decided_at).toBeGreaterThan(published.decided_at)
  expect(
    (await pool.query('select from integrity.forgotten_verdicts where batch_id = $1', [b.batch_id])).rowCount,
  ).toBe(0)
  expect(await acceptLoss()).toBe('Nothing is lost: log and Postgres fit together.')
})
