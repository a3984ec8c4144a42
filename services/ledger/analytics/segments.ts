import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import { type Doer, noteAudit } from '../audit.js'

// operator.segments: own segments of organisations, every version of each.

export type SegmentVersion = {
  org: string
  segment: string
  version: number
  condition: string
  about: string
  created_at: Date
  dropped_at: Date | null
}

const columns = 'org_id as org, segment, version, condition, about, created_at, dropped_at'

export type NewSegment = Pick<SegmentVersion, 'org' | 'segment' | 'condition' | 'about'>

/**
 * The new version of a segment; the one that is there where nothing changes; undefined where the organisation has no room for another.
 * Who else changes segments of the organisation at the same time waits for this transaction.
 */
export const setSegment = async (
  connection: Connection,
  given: NewSegment,
  most: number,
  by: Doer,
): Promise<SegmentVersion | undefined> => {
  await connection.query(`select from auth.organisations where org_id = $1 for update`, [given.org])
  const known = await listSegments(connection, given.org)
  const same = known.find(({ segment }) => segment === given.segment)
  if (same && same.condition === given.condition && same.about === given.about) return same
  if (!same && known.length >= most) return undefined
  const made = await firstRow<SegmentVersion>(
    connection,
    `insert into operator.segments (org_id, segment, version, condition, about)
    select $1, $2, coalesce(max(version), 0) + 1, $3, $4 from operator.segments where org_id = $1 and segment = $2
    returning ${columns}`,
    [given.org, given.segment, given.condition, given.about],
  )
  const details = { version: made?.version, condition: given.condition }
  await noteAudit(connection, by, { org: given.org, action: 'segment_set', subject: given.segment, details })
  return made
}

/** What was dropped; undefined where there is no such segment. */
export const dropSegment = async (
  connection: Connection,
  org: string,
  segment: string,
  by: Doer,
): Promise<SegmentVersion | undefined> => {
  const dropped = await firstRow<SegmentVersion>(
    connection,
    `update operator.segments set dropped_at = now()
    where org_id = $1 and segment = $2 and dropped_at is null
      and version = (select max(version) from operator.segments where org_id = $1 and segment = $2)
    returning ${columns}`,
    [org, segment],
  )
  if (dropped) await noteAudit(connection, by, { org, action: 'segment_dropped', subject: segment })
  return dropped
}

/** The last version of each segment that is not dropped, of one organisation or of all. */
export const listSegments = (db: Database, org: string | null): Promise<SegmentVersion[]> =>
  rowsOf(
    db,
    `select * from (
      select distinct on (org_id, segment) ${columns}
      from operator.segments
      where $1::text is null or org_id = $1
      order by org_id, segment, version desc
    ) as newest
    where dropped_at is null
    order by org, segment`,
    [org],
  )

/** Every version of every segment, or of one of them. */
export const listSegmentVersions = (db: Pool, one?: { org: string; segment: string }): Promise<SegmentVersion[]> =>
  rowsOf(
    db,
    `select ${columns} from operator.segments
    where $1::text is null or (org_id = $1 and segment = $2)
    order by org_id, segment, version`,
    [one?.org ?? null, one?.segment ?? null],
  )
