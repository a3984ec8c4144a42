import { findAcceptedLosses, findCursors, findPrunedBefore } from '#ledger/cursors.js'
import { findHoles, findLastErased } from '#ledger/erasures/holes.js'
import { readLayout } from '#ledger/layout/check-layout.js'
import { findGenerations, publishedOf } from '#ledger/layout/layout.js'
import { findVerdicts } from '#ledger/verdicts.js'
import { findWaitsOfBatches } from '#ledger/waiting/look-up.js'
import { committedByPlace } from '#platform/kafka/committed-offsets.js'
import { placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { timeOf } from '#platform/postgres/rows.js'
import { acceptedTopic, integrityGroupOf, rejectedTopic, sinkGroupOf, submittedTopic } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { generationOf } from '#schemas/version.js'
import type { Parts } from '../command/servers.js'
import { checkAccepted } from './checks/check-accepted.js'
import { checkRejected } from './checks/check-rejected.js'
import { checkWaits } from './checks/check-waits.js'
import { createDifferences } from './differences.js'
import { createExpectations } from './expectations.js'
import { idOf, orgOf } from './key-states.js'
import { partitionsBehind } from './log-places.js'
import { type Mended, mend } from './mend.js'
import { readSubmitted } from './read-submitted.js'
import type { Findings } from './report.js'
import { createRows } from './rows.js'
import { noCounts, type Subject, type Topics } from './subject.js'

/** Verifies these types in a range, with the parts that are open. */
export const verify = async (
  options: Parts &
    Pick<Subject, 'catalogue' | 'org' | 'range' | 'now' | 'progress'> & {
      types: readonly RecordType[]
      mostExamples: number
      mends: boolean
    },
): Promise<Findings> => {
  const { pool, kafka, clickhouse, types: wanted, mostExamples, mends, ...given } = options
  const topics: Topics = {
    stretches: (names, since) => stretchesOf(kafka, names, since),
    read: (stretches, onFetch) => readTopics(kafka, stretches, onFetch),
    committed: async (groups) => new Map([...(await committedByPlace(kafka, groups)), ...finished]),
    createProducer: kafka.createProducer,
  }
  const decisions = {
    time: () => timeOf(pool),
    cursors: () => findCursors(pool),
    verdicts: (batchIds: readonly string[]) => findVerdicts(pool, batchIds),
    waits: (batchIds: readonly string[]) => findWaitsOfBatches(pool, batchIds),
    prunedBefore: (at: TopicPartition) => findPrunedBefore(pool, at),
    acceptedLosses: (at: TopicPartition) => findAcceptedLosses(pool, at),
    holes: (at: TopicPartition) => findHoles(pool, at),
    erasedAt: () => findLastErased(pool),
  }
  const layout = await readLayout(pool)
  const generations = (await findGenerations(pool)).filter(({ state }) => state !== 'coming')
  // The topics of a generation that is finished may be deleted once all in them is too old.
  const there = new Set(await kafka.withAdmin((admin) => admin.listTopics()))
  const layouts = generations.filter(({ generation }) =>
    wanted.every(({ type }) => there.has(submittedTopic(type, generation))),
  )
  const finished = new Map(publishedOf(generations).map((each) => [placeOf(each), each.offset]))
  const types = new Map(
    wanted.map((type) => {
      const expectations = createExpectations((origin, offset) =>
        partitionsBehind({ ...given, layouts }, type.type, origin, offset),
      )
      return [
        type.type,
        { type, counts: noCounts(type.type), expectations, endedAnew: new Set<string>(), gone: new Map() },
      ]
    }),
  )
  const differences = createDifferences(mostExamples)
  const mended = await compare(
    { ...given, layout, layouts, topics, decisions, rows: createRows(clickhouse), types, differences },
    mends,
  )
  const counts = [...types.values()].map((one) => one.counts)
  return { range: given.range, now: given.now, counts, differences, mended }
}

/**
 * Compares the submitted log, the verdicts, the topics and ClickHouse, in the order in which things get there, with the services
 * running: what a later part must have by now is asked before it is read, so that nothing under way looks like a difference.
 */
const compare = async (subject: Subject, mends: boolean): Promise<Mended | undefined> => {
  const { topics, types } = subject
  const names = [...types.keys()]
  const published = await topics.committed(
    subject.layouts.flatMap(({ generation }) =>
      names.map((type) => ({
        groupId: integrityGroupOf(type, generation),
        topics: [submittedTopic(type, generation)],
      })),
    ),
  )
  const begunAt = await subject.decisions.time()
  await checkWaits(subject, await readSubmitted(subject, published), begunAt)

  const written = await topics.committed([
    ...names.map((type) => ({ groupId: sinkGroupOf(type), topics: [acceptedTopic(type)] })),
    { groupId: sinkGroupOf(), topics: [rejectedTopic] },
  ])
  await subject.rows.settle([...types.values()].map(({ type }) => type))
  const isPublished = (type: string, key: string, offset: number): boolean => {
    const topic = submittedTopic(type, generationOf(offset))
    const origin = { orgId: orgOf(key), id: idOf(key) }
    return partitionsBehind(subject, type, origin, offset).every(
      (partition) => offset < (published.get(placeOf({ topic, partition })) ?? 0),
    )
  }
  const turnedBack = await checkAccepted(subject, written, isPublished)
  await checkRejected(subject, written)
  return mends ? await mend(subject, turnedBack) : undefined
}
