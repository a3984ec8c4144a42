import type { Committed } from '#platform/kafka/committed-offsets.js'
import type { Connection } from '#platform/postgres/postgres.js'

export type PrunedVerdicts = { count: number; lastUsed: Date | null }

/** Takes away at most so many verdicts of a partition that were told and last used before a moment, the oldest first. */
export const pruneVerdicts = async (
  connection: Connection,
  { topic, partition, offset }: Committed,
  before: Date,
  most: number,
): Promise<PrunedVerdicts> => {
  const { rows } = await connection.query<{ count: number; last_used: Date | null }>({
    name: 'prune-verdicts',
    text: `
      with doomed as (
        select batch_id
        from integrity.verdicts
        where topic = $1 and partition = $2 and submitted_offset < $3 and coalesce(repeated_at, decided_at) < $4
        order by coalesce(repeated_at, decided_at)
        limit $5
      ), gone as (
        delete from integrity.verdicts v
        using doomed
        where v.batch_id = doomed.batch_id
        returning coalesce(v.repeated_at, v.decided_at) as last_used
      )
      select count(*) as count, max(last_used) as last_used from gone`,
    values: [topic, partition, offset, before, most],
  })
  return { count: rows[0]?.count ?? 0, lastUsed: rows[0]?.last_used ?? null }
}
