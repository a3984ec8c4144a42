import type { TopicPartition } from '#platform/kafka/partitions.js'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { changedBy } from '#platform/postgres/rows.js'
import type { VerdictEvent } from '#schemas/events.js'

// integrity.forgotten_verdicts: what a Postgres that went back to an earlier state had decided, and was published. A batch that is decided
// again gets the verdict that its uploader was given.

/** What counts of a published verdict when its batch is decided again. */
export type ForgottenVerdict = Pick<VerdictEvent, 'batch_id' | 'decided_at' | 'refused' | 'waiting'>

const textOf = ({ batch_id, decided_at, refused, waiting }: ForgottenVerdict): string =>
  JSON.stringify({ batch_id, decided_at, refused, waiting })

/** Keeps those of these verdicts that Postgres does not know. Of two on one batch, the first one that comes is kept. */
export const insertForgotten = async (pool: Pool, verdicts: readonly ForgottenVerdict[]): Promise<number> =>
  changedBy(
    pool,
    `insert into integrity.forgotten_verdicts (batch_id, verdict)
    select distinct on (batch_id) batch_id, verdict
    from unnest($1::uuid[], $2::text[]) with ordinality as published (batch_id, verdict, place)
    where not exists (select from integrity.verdicts v where v.batch_id = published.batch_id)
    order by batch_id, place
    on conflict do nothing`,
    [verdicts.map(({ batch_id }) => batch_id), verdicts.map(textOf)],
  )

/** Has integrity look among the forgotten verdicts for each batch of a partition from one offset up to but without another. */
export const markForgotten = (
  pool: Pool,
  { topic, partition, from, until }: TopicPartition & { from: number; until: number },
): Promise<number> =>
  changedBy(
    pool,
    // A partition of which everything is forgotten has no cursor.
    `insert into integrity.cursors (topic, partition, next_offset, forgotten_until)
    values ($1, $2, $3, $4)
    on conflict (topic, partition) do update
    set forgotten_until = greatest(cursors.forgotten_until, excluded.forgotten_until)`,
    [topic, partition, from, until],
  )

/** The forgotten verdicts on these batches, which are decided now, by batch id. They are taken out. */
export const takeForgotten = async (
  connection: Connection,
  batchIds: readonly string[],
): Promise<Map<string, ForgottenVerdict>> => {
  const { rows } = await connection.query<{ verdict: string }>({
    name: 'take-forgotten',
    text: `delete from integrity.forgotten_verdicts where batch_id = any ($1::uuid[]) returning verdict`,
    values: [batchIds],
  })
  const found = rows.map(({ verdict }) => JSON.parse(verdict) as ForgottenVerdict)
  return new Map(found.map((verdict) => [verdict.batch_id, verdict]))
}

/**
 * Changes of waiting records are numbered, and readers go by the highest number. The sequence of these numbers went back with everything
 * else: it goes on a billion later, which is more than can have been published and forgotten.
 */
export const skipChanges = async (pool: Pool): Promise<void> => {
  await pool.query(`select setval('integrity.waiting_changes', nextval('integrity.waiting_changes') + 1000000000)`)
}
