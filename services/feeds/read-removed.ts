import { findHoles } from '#ledger/erasures/holes.js'
import { type Generation, partitionOfRecord } from '#ledger/layout/layout.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { TopicPartition } from '#platform/kafka/partitions.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { quote } from '#schemas/derive/clickhouse/columns.js'
import { database, logTableOf } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { generationOf, versionOf } from '#schemas/version.js'
import { eventColumns } from './read-tables.js'

/**
 * What was accepted of a batch that an erasure has taken out of the log: the records of others, from the tables, in the order in which they
 * lay there. Undefined where no erasure has taken it.
 */
export type ReadRemoved = (
  orgId: string,
  place: TopicPartition & { type: RecordType },
  batch: { offset: number; batchId: string },
) => Promise<AcceptedEvent[] | undefined>

export const createReadRemoved = (deps: {
  pool: Pool
  clickhouse: Pick<ClickHouse, 'query'>
  findGenerations: () => Promise<readonly Generation[]>
}): ReadRemoved => {
  return async (org, { type, topic, partition }, { offset, batchId }) => {
    const holes = await findHoles(deps.pool, { topic, partition }, [offset])
    if (!holes.has(offset)) return undefined
    const events = await deps.clickhouse.query<AcceptedEvent>(
      `select ${eventColumns(type)}
      from ${database}.${logTableOf(type.type)}
      where org_id = {org:String} and version >= {from:UInt64} and version < {until:UInt64}
      order by version, ${quote(type.id)}
      limit 1 by version, ${quote(type.id)}`,
      { org, from: versionOf(offset, 0), until: versionOf(offset + 1, 0) },
    )
    if (type.stream) return events.filter(({ batch_id }) => batch_id === batchId)
    // What lies at the same offset of the organisation's other partitions has such versions too.
    const layout = (await deps.findGenerations()).find(({ generation }) => generation === generationOf(offset))
    if (!layout) return undefined
    return events.filter((event) => partitionOfRecord(org, String(event[type.id]), layout) === partition)
  }
}
