import { setTimeout as sleep } from 'node:timers/promises'
import type { Cursor } from '#ledger/rebuilt-entities.js'
import { committedByPlace } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { integrityGroupOf } from '#schemas/derive/names.js'
import { OperatorError } from '../desk/operator-error.js'

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
    const unpublished = await countUnpublished(kafka, cursors)
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

const countUnpublished = async (kafka: Kafka, cursors: readonly Cursor[]): Promise<number> => {
  const topics = [...new Set(cursors.map(({ topic }) => topic))]
  const committed = await committedByPlace(kafka, [{ groupId, topics }])
  return cursors.reduce(
    (sum, cursor) => sum + Math.max(0, cursor.next_offset - (committed.get(placeOf(cursor)) ?? 0)),
    0,
  )
}
