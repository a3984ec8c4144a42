import type { Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import type { RejectionId } from './claims.js'

/** Indexes by batch; `areAll` where not even those were left out that show in ClickHouse by a later record of their id. */
export type RetriedPlaces = { places: Map<string, number[]>; areAll: boolean }

/** Which rejections of an organisation were submitted again, of those refused in a time; undefined where there are more than `most`. */
export const findRetriedPlaces = async (
  pool: Pool,
  { org, type, since, until }: { org: string; type?: string; since?: Date; until?: Date },
  most: number,
): Promise<RetriedPlaces | undefined> => {
  const find = (condition: string) =>
    rowsOf<RejectionId>(
      pool,
      `select batch_id as "batchId", index
      from integrity.retries
      where org_id = $1 and ($2::timestamptz is null or rejected_at >= $2) and ($3::timestamptz is null or rejected_at < $3)
        and ($4::text is null or type = $4) and ${condition}
      limit $5`,
      [org, since ?? null, until ?? null, type ?? null, most + 1],
    )
  const all = await find('true')
  if (all.length <= most) return { places: byBatch(all), areAll: true }
  const unseen = await find(`(not has_id or outcome is null or answered_at > now() - ${behind})`)
  return unseen.length <= most ? { places: byBatch(unseen), areAll: false } : undefined
}

// ClickHouse may be behind for a while.
const behind = "interval '1 hour'"

const byBatch = (retried: readonly RejectionId[]): Map<string, number[]> => {
  const places = new Map<string, number[]>()
  for (const { batchId, index } of retried) {
    const known = places.get(batchId)
    if (known) known.push(index)
    else places.set(batchId, [index])
  }
  return places
}
