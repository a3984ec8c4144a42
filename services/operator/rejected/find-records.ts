import { type RejectionId, rejectionName } from '#ledger/retries.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { database, rejectionsView } from '#schemas/derive/names.js'

export type Wanted = RejectionId & { rejectedAt: Date }

// Values travel in the address, which ClickHouse takes up to 128 KiB of each.
const mostAtOnce = 1000

/** The records of these rejections of one organisation, as they are kept, by their places; what is gone is left out. */
export const findRecords = async (
  clickhouse: ClickHouse,
  org: string,
  wanted: readonly Wanted[],
): Promise<Map<string, string>> => {
  const found = new Map<string, string>()
  for (let from = 0; from < wanted.length; from += mostAtOnce) {
    const some = wanted.slice(from, from + mostAtOnce)
    const times = some.map(({ rejectedAt }) => rejectedAt.getTime())
    const rows = await clickhouse.query<{ batch_id: string; index: number; record: string }>(
      `select batch_id, index, record
      from ${database}.${rejectionsView}
      where org_id = {org:String} and batch_id in {batches:Array(UUID)}
        and rejected_at between fromUnixTimestamp64Milli({first:Int64}, 'UTC') and fromUnixTimestamp64Milli({last:Int64}, 'UTC')`,
      {
        org,
        batches: [...new Set(some.map(({ batchId }) => batchId))],
        first: times.reduce((a, b) => Math.min(a, b)),
        last: times.reduce((a, b) => Math.max(a, b)),
      },
    )
    const places = new Set(some.map(rejectionName))
    for (const { batch_id, index, record } of rows) {
      const place = rejectionName({ batchId: batch_id, index })
      if (places.has(place)) found.set(place, record)
    }
  }
  return found
}
