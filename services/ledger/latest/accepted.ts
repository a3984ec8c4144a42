import { placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { listsOf, rowsOf } from '#platform/postgres/rows.js'
import { fromRow, type StoredVerdict, type VerdictRow, verdictColumns } from '../verdicts.js'

// What was accepted for one organisation, partition by partition of the submitted log, in the order of the log.

/** Up to where a partition is decided, and from where on every verdict is still there; both as offsets. */
export type DecidedPartition = TopicPartition & { decidedUntil: number; prunedUntil: number }

/** A partition, and the verdicts by which something was accepted from an offset on. */
export type AcceptedIn = DecidedPartition & { verdicts: StoredVerdict[] }

/**
 * The first verdicts of an organisation from these offsets on, at most `most` of each partition. What is decided in a partition comes in the
 * order of its offsets, so that nothing can appear later between these verdicts and `decidedUntil`. A partition of which nothing was ever
 * decided has no row. With `orNot` also those verdicts by which nothing was accepted.
 */
export const findAcceptedFrom = async (
  pool: Pool,
  orgId: string,
  places: readonly (TopicPartition & { offset: number })[],
  most: number,
  { orNot = false } = {},
): Promise<AcceptedIn[]> => {
  const rows = await rowsOf<DecidedPartition & { isVerdict: boolean } & VerdictRow<StoredVerdict>>(pool, {
    name: 'find-accepted-from',
    text: `
      select v.*, v.batch_id is not null as "isVerdict", c.topic, c.partition, c.next_offset as "decidedUntil",
        c.pruned_until as "prunedUntil"
      from unnest($2::text[], $3::integer[], $4::bigint[]) as wanted (topic, partition, from_offset)
      join integrity.cursors c on c.topic = wanted.topic and c.partition = wanted.partition
      left join lateral (
        select ${verdictColumns}, repeated, gone, submitted_offset
        from integrity.verdicts
        where org_id = $1 and topic = wanted.topic and partition = wanted.partition
          and submitted_offset >= wanted.from_offset and (accepted > 0 or $6)
        order by submitted_offset
        limit $5
      ) v on true`,
    values: [orgId, ...listsOf(places, 'topic', 'partition', 'offset'), most, orNot],
  })
  const found = new Map<string, AcceptedIn>()
  for (const { decidedUntil, prunedUntil, isVerdict, ...row } of rows) {
    const { topic, partition } = row
    const place = placeOf(row)
    const accepted = found.get(place) ?? { topic, partition, decidedUntil, prunedUntil, verdicts: [] }
    found.set(place, accepted)
    if (isVerdict) accepted.verdicts.push(fromRow(row))
  }
  return [...found.values()]
}

/** Where a partition stands for a reader who begins at a moment: the first batch of the organisation since then, if there is one. */
export type PartitionSince = TopicPartition & {
  decidedUntil: number
  firstSince: number | null
  /** Whether every verdict since that moment is still there. */
  isKept: boolean
}

/** Of each of these partitions, for a reader who begins at a moment, or now. A partition of which nothing was ever decided has no row. */
export const findPartitionsSince = (
  pool: Pool,
  orgId: string,
  places: readonly (TopicPartition & { type: string })[],
  since: Date | 'now',
): Promise<PartitionSince[]> =>
  rowsOf(pool, {
    name: 'find-partitions-since',
    text: `
      select c.topic, c.partition, c.next_offset as "decidedUntil", first.submitted_offset as "firstSince",
        c.pruned_before is null or $5::timestamptz is null or c.pruned_before <= $5 as "isKept"
      from unnest($2::text[], $3::integer[], $4::text[]) as wanted (topic, partition, type)
      join integrity.cursors c on c.topic = wanted.topic and c.partition = wanted.partition
      left join lateral (
        select v.submitted_offset
        from integrity.verdicts v
        where v.org_id = $1 and v.type = wanted.type and v.topic = c.topic and v.partition = c.partition and v.decided_at >= $5
        order by v.decided_at
        limit 1
      ) as first on true`,
    values: [orgId, ...listsOf(places, 'topic', 'partition', 'type'), since === 'now' ? null : since],
  })
