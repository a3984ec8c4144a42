import type { ClickHouse } from '#platform/clickhouse.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { placementOf } from '#schemas/derive/clickhouse/placement.js'
import { database, logTableOf } from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'

/** A type with versions that were replaced too long ago, and how many those are. */
export type ExpiredVersions = { type: string; rows: number }

// A delete holds the names of its rows in memory, so a table with many of them is gone through in slices of about this size.
const rowsPerSlice = 1_000_000

/** Deletes versions replaced before a moment. What a record was at any time since then can still be read. */
export const pruneHistory = async (
  clickhouse: ClickHouse,
  catalogue: Catalogue,
  before: Date,
  options: { signal?: AbortSignal; onType?: (expired: ExpiredVersions) => void } = {},
): Promise<number> => {
  const { stored, on } = placementOf(clickhouse)
  let total = 0
  for (const expired of await findExpiredVersions(clickhouse, catalogue, before)) {
    const type = catalogue.all.get(expired.type) as RecordType
    const slices = Math.ceil(expired.rows / rowsPerSlice)
    // On a cluster each server deletes what it holds: all versions of a record are on one shard.
    const table = `${database}.${stored(logTableOf(type.type))}`
    for (let slice = 0; slice < slices; slice++) {
      options.signal?.throwIfAborted()
      await clickhouse.command(
        `delete from ${table}${on}
        where (org_id, ${type.id}, version) in (
          select org_id, ${type.id}, arrayJoin(arrayPopBack(arraySort(groupUniqArray(version))))
          from ${table}
          where ${isOlder(before)} and cityHash64(${type.id}) % ${slices} = ${slice}
          group by org_id, ${type.id}
          having count() > 1
        )`,
      )
    }
    total += expired.rows
    options.onType?.(expired)
  }
  return total
}

export const findExpiredVersions = async (
  clickhouse: ClickHouse,
  catalogue: Catalogue,
  before: Date,
): Promise<ExpiredVersions[]> => {
  const found: ExpiredVersions[] = []
  for (const type of [...catalogue.all.values()].filter(hasVersions)) {
    const [row] = await clickhouse.query<{ rows: number }>(
      `select toFloat64(sum(versions - 1)) as rows
      from (
        select uniqExact(version) as versions from ${tableOf(type)}
        where ${isOlder(before)}
        group by org_id, ${type.id}
      )`,
    )
    if (row && row.rows > 0) found.push({ type: type.type, rows: row.rows })
  }
  return found
}

const tableOf = ({ type }: RecordType): string => `${database}.${logTableOf(type)}`

const isOlder = (before: Date): string => `accepted_at < fromUnixTimestamp64Milli(${before.getTime()}, 'UTC')`
