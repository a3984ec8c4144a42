import { committedByPlace } from '#platform/kafka/committed-offsets.js'
import { partitionOf, placeOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, integrityGroupOf, rejectedTopic, sinkGroupOf, submittedTopic } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import { checkAccepted } from './check-accepted.js'
import { checkRejected } from './check-rejected.js'
import { type Mended, mend } from './mend.js'
import { readSubmitted } from './read-submitted.js'
import type { Subject } from './subject.js'

/**
 * Compares the submitted log, the verdicts, the topics and ClickHouse, in the order in which things get there, with the services
 * running: what a later part must have by now is asked before it is read, so that nothing under way looks like a difference.
 */
export const verify = async (subject: Subject, options: { mends: boolean }): Promise<Mended | undefined> => {
  const { kafka, catalogue, types } = subject
  const names = [...types.keys()]
  const published = await committedByPlace(
    kafka,
    names.map((type) => ({ groupId: integrityGroupOf(type), topics: [submittedTopic(type)] })),
  )
  await readSubmitted(subject, published)

  const written = await committedByPlace(kafka, [
    ...names.map((type) => ({ groupId: sinkGroupOf(type), topics: [acceptedTopic(type)] })),
    { groupId: sinkGroupOf(), topics: [rejectedTopic] },
  ])
  const isPublished = (type: string, orgId: string, offset: number): boolean => {
    const topic = submittedTopic(type)
    const partition = partitionOf(orgId, partitionsOf(catalogue, topic))
    return offset < (published.get(placeOf({ topic, partition })) ?? 0)
  }
  const turnedBack = await checkAccepted(subject, written, isPublished)
  await checkRejected(subject, written)
  return options.mends ? await mend(subject, turnedBack) : undefined
}
