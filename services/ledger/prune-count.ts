import type { Committed } from '#platform/kafka/committed-offsets.js'
import type { Pool } from '#platform/postgres/postgres.js'

export const countPrunableVerdicts = async (
  pool: Pool,
  committed: readonly Committed[],
  before: Date,
): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>({
    text: `
      select count(*) as count
      from unnest($1::text[], $2::integer[], $3::bigint[]) as told (topic, partition, next_offset)
      join integrity.verdicts v using (topic, partition)
      where v.submitted_offset < told.next_offset and coalesce(v.repeated_at, v.decided_at) < $4`,
    values: [committed.map((c) => c.topic), committed.map((c) => c.partition), committed.map((c) => c.offset), before],
  })
  return rows[0]?.count ?? 0
}

export const countPrunableKeyed = async (pool: Pool, before: Date): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*) as count from integrity.keyed_interactions where recorded_at < $1',
    [before],
  )
  return rows[0]?.count ?? 0
}

export const countPrunableRetries = async (pool: Pool, before: Date): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    'select count(*) as count from integrity.retries where rejected_at < $1',
    [before],
  )
  return rows[0]?.count ?? 0
}
