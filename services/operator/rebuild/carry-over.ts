import type { Stretch } from '#platform/kafka/read-topics.js'
import type { Table } from './tables.js'

/** Of a partition: which of its events the topic no longer holds. */
export type Gone = { partition: number; until: number }

// Clocks differ, and events that were sent at the same time lie in any order. What is carried over needlessly is on the
// topic too, with the same version, and collapses.
const margin = 3_600_000

/**
 * What retention (or an operator) has taken from the head of each partition, told by the time of the first message that was
 * read there. Where the head moved on while it was read, or nothing is left, it may be anything.
 */
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

/** The rows whose events are gone, as a condition; undefined where the topic still holds everything. */
export const conditionOf = (table: Table, gone: readonly Gone[]): string | undefined => {
  if (gone.length === 0) return undefined
  const partition = `kafkaMurmurHash(${table.key}) % ${table.partitions}`
  return gone
    .map(({ partition: number, until }) => {
      const isThere = `${partition} = ${number}`
      return until === Number.POSITIVE_INFINITY
        ? `(${isThere})`
        : `(${isThere} and ${table.decidedAt} <= fromUnixTimestamp64Milli(${until}, 'UTC'))`
    })
    .join(' or ')
}
