import type { SegmentVersion } from '#ledger/analytics/segments.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { noteSegmentsSql } from '#schemas/derive/clickhouse/segments.js'
import { database, ownSegmentsTable } from '#schemas/derive/names.js'

// As many fit into a statement, however long their conditions are.
const atOnce = 50

type Known = { org: string; segment: string; version: string; isDropped: boolean }

/** Tells ClickHouse of the segments that it does not know yet: the sink looks there for those whose members it has to find. */
export const copySegments = async (clickhouse: ClickHouse, versions: readonly SegmentVersion[]): Promise<void> => {
  if (versions.length === 0) return
  const known = await clickhouse.query<Known>(
    `select org_id as org, segment, toString(version) as version, is_dropped as isDropped from ${database}.${ownSegmentsTable} final`,
  )
  const keyOf = ({ org, segment, version, isDropped }: Known): string =>
    JSON.stringify([org, segment, version, isDropped])
  const isThere = new Set(known.map(keyOf))
  const missing = versions
    .map(({ created_at, dropped_at, ...rest }) => ({
      ...rest,
      createdAt: created_at.toISOString().replace('T', ' ').replace('Z', ''),
      isDropped: dropped_at !== null,
    }))
    .filter((each) => !isThere.has(keyOf({ ...each, version: String(each.version) })))
  for (let from = 0; from < missing.length; from += atOnce)
    await clickhouse.command(noteSegmentsSql(missing.slice(from, from + atOnce)))
}
