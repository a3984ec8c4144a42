import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { firstRow } from '#platform/postgres/rows.js'
import type { Layout } from '#schemas/derive/topics.js'

// integrity.layouts: how wide the system is. One row, written when it is first provisioned; edge, integrity and the operator's
// commands go by it, whatever their environment says.

/** The layout that was stored; undefined before the first provisioning. */
export const findLayout = (pool: Pool | Connection): Promise<Layout | undefined> =>
  firstRow(
    pool,
    `select lanes, submitted_partitions as "submittedPartitions", accepted_partitions as "acceptedPartitions"
    from integrity.layouts
    order by generation desc
    limit 1`,
  )

/** Stores a layout where there is none yet; resolves to the one that counts. */
export const keepLayout = async (pool: Pool, layout: Layout): Promise<Layout> => {
  await pool.query(
    `insert into integrity.layouts (generation, lanes, submitted_partitions, accepted_partitions)
    values (0, $1, $2, $3)
    on conflict do nothing`,
    [layout.lanes, layout.submittedPartitions, layout.acceptedPartitions],
  )
  return (await findLayout(pool)) ?? layout
}
