import type { Committed } from '#platform/kafka/committed-offsets.js'
import { laneOf, partitionOfLane } from '#platform/kafka/partitions.js'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { changedBy, firstRow, rowsOf } from '#platform/postgres/rows.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { RecordType } from '#schemas/record.js'

// integrity.layouts: how wide the system is. One row, written when it is first provisioned, and one more for each change of its lanes;
// edge, integrity and the operator's commands go by it, whatever their environment says.

/**
 * A layout with its place in the life of the system. `coming`: its topics are being made ready, and edges hold back what they have not
 * cut into batches yet. `open`: edges write to it. `closed`: nothing can be written to its topics any more. `finished`: all that is in
 * them is decided and published.
 */
export type Generation = Layout & {
  generation: number
  state: 'coming' | 'open' | 'closed' | 'finished'
  /** Where its topics end, by `topic/partition`, once they are closed. */
  ends: Record<string, number>
}

// A command that was killed leaves its preparation behind: after this long, edges go on as before.
const comingWithin = "interval '1 minute'"

/** All generations, the first one first; none before the first provisioning. */
export const findGenerations = async (pool: Pool | Connection): Promise<Generation[]> => {
  type Row = Omit<Generation, 'ends' | 'state'> & {
    isOpened: boolean
    isComing: boolean
    ends: Record<string, number> | null
    isFinished: boolean
  }
  const rows = await rowsOf<Row>(
    pool,
    `select generation, lanes, submitted_partitions as "submittedPartitions", accepted_partitions as "acceptedPartitions",
      opened_at is not null as "isOpened", opened_at is null and made_at > now() - ${comingWithin} as "isComing",
      closed_ends as ends, finished_at is not null as "isFinished"
    from integrity.layouts
    order by generation`,
  )
  return rows
    .filter(({ isOpened, isComing }) => isOpened || isComing)
    .map(({ isOpened, isComing: _, isFinished, ends, ...layout }) => ({
      ...layout,
      state: isFinished ? 'finished' : ends ? 'closed' : isOpened ? 'open' : 'coming',
      ends: ends ?? {},
    }))
}

/** The generation that integrity decides: the first that is not finished. */
export const toDecide = (generations: readonly Generation[]): Generation | undefined =>
  generations.find(({ state }) => state === 'open' || state === 'closed')

/** What was published of generations that are finished: all of it, also where Kafka has forgotten their groups. */
export const publishedOf = (generations: readonly Generation[]): Committed[] =>
  generations
    .filter(({ state }) => state === 'finished')
    .flatMap(({ ends }) =>
      Object.entries(ends).map(([place, offset]) => {
        const at = place.lastIndexOf('/')
        return { topic: place.slice(0, at), partition: Number(place.slice(at + 1)), offset }
      }),
    )

/** The partitions of its submitted topic that an organisation's records of a type may be in: interactions are spread over all of them. */
export const partitionsOfOrg = (
  type: Pick<RecordType, 'stream'>,
  orgId: string,
  { lanes, submittedPartitions: all }: Layout,
): number[] =>
  type.stream
    ? Array.from({ length: all }, (_, partition) => partition)
    : Array.from({ length: Math.min(lanes, all) }, (_, lane) => partitionOfLane(orgId, lane, all))

/** The partition of its submitted topic that the versions of a record are in. */
export const partitionOfRecord = (orgId: string, id: string, { lanes, submittedPartitions }: Layout): number =>
  partitionOfLane(orgId, laneOf(id, lanes), submittedPartitions)

/** The layout that edges write by; undefined before the first provisioning. */
export const findLayout = (pool: Pool | Connection): Promise<Layout | undefined> =>
  firstRow(
    pool,
    `select generation, lanes, submitted_partitions as "submittedPartitions", accepted_partitions as "acceptedPartitions"
    from integrity.layouts
    where opened_at is not null
    order by generation desc
    limit 1`,
  )

/** Stores a layout where there is none yet; resolves to the one that counts. */
export const keepLayout = async (pool: Pool, layout: Layout): Promise<Layout> => {
  await pool.query(
    `insert into integrity.layouts (generation, lanes, submitted_partitions, accepted_partitions)
    select 0, $1, $2, $3
    where not exists (select from integrity.layouts)
    on conflict do nothing`,
    [layout.lanes, layout.submittedPartitions, layout.acceptedPartitions],
  )
  return (await findLayout(pool)) ?? layout
}

/** Says to all edges that this generation comes, in place of one that was prepared before and never opened. */
export const announceGeneration = async (pool: Pool, layout: Layout & { generation: number }): Promise<void> => {
  const { generation, lanes, submittedPartitions, acceptedPartitions } = layout
  await pool.query(
    `insert into integrity.layouts (generation, lanes, submitted_partitions, accepted_partitions, made_at, opened_at)
    values ($1, $2, $3, $4, now(), null)
    on conflict (generation) do update
    set lanes = excluded.lanes, submitted_partitions = excluded.submitted_partitions, made_at = now()
    where layouts.opened_at is null`,
    [generation, lanes, submittedPartitions, acceptedPartitions],
  )
}

/** Takes back a generation that was announced and not opened. */
export const withdrawGeneration = (pool: Pool, generation: number): Promise<number> =>
  changedBy(pool, 'delete from integrity.layouts where generation = $1 and opened_at is null', [generation])

/** Opens a generation that was announced, and notes where the one before it ends, in one step. */
export const openGeneration = async (
  connection: Connection,
  generation: number,
  ends: Record<string, number>,
): Promise<void> => {
  await connection.query(`update integrity.layouts set closed_ends = $2 where generation = $1`, [
    generation - 1,
    JSON.stringify(ends),
  ])
  await connection.query(`update integrity.layouts set opened_at = now() where generation = $1`, [generation])
}

/** Notes that everything of a generation is decided and published. */
export const finishGeneration = (pool: Pool, generation: number): Promise<number> =>
  changedBy(
    pool,
    `update integrity.layouts set finished_at = now()
    where generation = $1 and closed_ends is not null and finished_at is null`,
    [generation],
  )
