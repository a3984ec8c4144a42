import type { Stretch } from '#platform/kafka/read-topics.js'
import type { Table } from './tables.js'

/** A partition whose first events the topic no longer holds: those decided up to this moment, in milliseconds. */
export type Gone = { partition: number; until: number }

// Clocks differ, and events of one moment lie in any order. A row that is carried over needlessly collapses with its event's.
const margin = 3_600_000

/** What was deleted: older than the first message that was read; anything, where the head moved on or nothing is left. */
export const goneFrom = (
  before: readonly Stretch[],
  after: readonly Stretch[],
  firstRead: ReadonlyMap<number, number>,
): Gone[] =>
  after
    .filter(({ from }) => from > 0)
    .map(({ partition, from }) => {
      const hasMoved = before.find((each) => each.partition === partition)?.from !== from
      const first = firstRead.get(partition)
      return { partition, until: hasMoved || first === undefined ? Number.POSITIVE_INFINITY : first + margin }
    })

/** The rows whose events are gone from a topic of that many partitions, as a condition; undefined where it holds everything. */
export const conditionOf = (table: Table, partitions: number, gone: readonly Gone[]): string | undefined => {
  if (gone.length === 0) return undefined
  const partition = `kafkaMurmurHash(${table.key}) % ${partitions}`
  return gone
    .map(({ partition: number, until }) => {
      const isThere = `${partition} = ${number}`
      return until === Number.POSITIVE_INFINITY
        ? `(${isThere})`
        : `(${isThere} and ${table.decidedAt} <= fromUnixTimestamp64Milli(${until}, 'UTC'))`
    })
    .join(' or ')
}
