import type { ClickHouse } from '#platform/clickhouse.js'
import { placementOf } from '#schemas/derive/clickhouse/placement.js'
import { database, rejectionsLog, waitingLog } from '#schemas/derive/names.js'

/** Deletes what is older than a moment, day by day. A delete only marks rows: a day costs about one reading of its parts. */
export const pruneDays = async (
  clickhouse: ClickHouse,
  what: KeptByDay,
  before: Date,
  options: { signal?: AbortSignal; onDay?: (expired: ExpiredDay) => void } = {},
): Promise<number> => {
  const { table, time } = keptByDay[what]
  const { stored, on } = placementOf(clickhouse)
  let rows = 0
  for (const expired of await findExpiredDays(clickhouse, what, before)) {
    options.signal?.throwIfAborted()
    await clickhouse.command(`delete from ${stored(table)}${on} where toDate32(${time}) = toDate32('${expired.day}')`)
    rows += expired.rows
    options.onDay?.(expired)
  }
  return rows
}

// The tables whose rows go by whole days. Records that waited go by the end of their time, which is the same in every change of
// one: would the last change go before the others, an older one would show the record as waiting again.
const keptByDay = {
  rejections: { table: `${database}.${rejectionsLog}`, time: 'rejected_at' },
  waiting: { table: `${database}.${waitingLog}`, time: 'until' },
} as const
type KeptByDay = keyof typeof keptByDay

/** A day (UTC) with rows that are too old, and how many it has. */
export type ExpiredDay = { day: string; rows: number }

export const findExpiredDays = (clickhouse: ClickHouse, what: KeptByDay, before: Date): Promise<ExpiredDay[]> => {
  const { table, time } = keptByDay[what]
  return clickhouse.query<ExpiredDay>(
    `select toString(toDate32(${time})) as day, toUInt32(count()) as rows
    from ${table}
    where ${time} < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
    group by day
    order by day`,
    { before: before.getTime() },
  )
}
