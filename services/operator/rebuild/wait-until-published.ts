import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from '#platform/kafka.js'
import { integrityGroupOf } from '#schemas/derive/names.js'
import { OperatorError } from '../operator-error.js'
import type { Cursor } from './sql/begin-new-index.js'

// Integrity's own, for uploads; interactions are referred to by nobody.
const groupId = integrityGroupOf()
const longestStandstill = 60_000

/** Integrity commits its place in the submitted log once all below it is published: then the accepted topics have it. */
export const waitUntilPublished = async (
  kafka: Kafka,
  cursors: readonly Cursor[],
  signal: AbortSignal,
  patience = longestStandstill,
): Promise<void> => {
  let least = Number.POSITIVE_INFINITY
  let since = Date.now()
  for (;;) {
    const unpublished = await kafka.withAdmin((admin) => countUnpublished(admin, cursors))
    if (unpublished === 0) return
    if (unpublished < least) since = Date.now()
    least = Math.min(least, unpublished)
    if (Date.now() - since > patience) {
      throw new OperatorError(
        `integrity has decided ${unpublished} batches that it has not published: start it, then try again`,
      )
    }
    await sleep(250)
    signal.throwIfAborted()
  }
}

type Admin = Parameters<Parameters<Kafka['withAdmin']>[0]>[0]

const countUnpublished = async (admin: Admin, cursors: readonly Cursor[]): Promise<number> => {
  const topics = [...new Set(cursors.map(({ topic }) => topic))]
  if (topics.length === 0) return 0
  const committed = new Map(
    (await admin.fetchOffsets({ groupId, topics })).flatMap(({ topic, partitions }) =>
      partitions.map(({ partition, offset }) => [`${topic}/${partition}`, Number(offset)]),
    ),
  )
  return cursors.reduce(
    (sum, { topic, partition, next_offset }) =>
      // Where nothing was ever committed Kafka says -1.
      sum + Math.max(0, next_offset - Math.max(0, committed.get(`${topic}/${partition}`) ?? 0)),
    0,
  )
}
