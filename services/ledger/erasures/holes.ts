import { type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'

// erasure.holes: batches that erasures took out of the submitted log.

export const noteHoles = async (
  db: Database,
  erasureId: string | null,
  holes: readonly { topic: string; partition: number; offset: number }[],
): Promise<void> => {
  await db.query(
    `insert into erasure.holes (topic, partition, submitted_offset, erasure_id)
    select topic, partition, submitted_offset, $1
    from unnest($2::text[], $3::integer[], $4::bigint[]) given (topic, partition, submitted_offset)
    on conflict do nothing`,
    [
      erasureId,
      holes.map(({ topic }) => topic),
      holes.map(({ partition }) => partition),
      holes.map(({ offset }) => offset),
    ],
  )
}

/** Those of a partition: all, or which of these batches are among them. */
export const findHoles = async (
  db: Database,
  at: { topic: string; partition: number },
  offsets: readonly number[] | null = null,
): Promise<Set<number>> => {
  const rows = await rowsOf<{ offset: number }>(
    db,
    `select submitted_offset as offset from erasure.holes
    where topic = $1 and partition = $2 and ($3::bigint[] is null or submitted_offset = any ($3))`,
    [at.topic, at.partition, offsets],
  )
  return new Set(rows.map(({ offset }) => offset))
}

/** When an erasure, or retention, last removed something: now, while one is not done. */
export const findLastErased = async (db: Database): Promise<number | undefined> => {
  const row = await firstRow<{ at: Date | null }>(
    db,
    `select max(case when status <> 'done' then now() else ended_at end) as at
    from (
      select status, ended_at from erasure.erasures where not is_dry_run
      union all
      select case when ended_at is null then 'running' else 'done' end, ended_at from erasure.retention_runs
    ) removals`,
  )
  return row?.at?.getTime()
}
