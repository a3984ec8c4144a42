import type { ClickHouse } from '#platform/clickhouse.js'
import { database, rejectionsView } from '#schemas/derive/names.js'
import { type Filter, whereOf } from './filter.js'

/** How many rejections are meant in all, and with each code; one with two codes counts for both. */
export const countByCode = async (
  clickhouse: ClickHouse,
  filter: Filter,
): Promise<{ total: number; byCode: Record<string, number> }> => {
  const { where, values } = whereOf(filter)
  const [all] = await clickhouse.query<{ total: number }>(
    `select toUInt32(count()) as total from ${database}.${rejectionsView} where ${where}`,
    values,
  )
  const rows = await clickhouse.query<{ name: string; rows: number }>(
    `select arrayJoin(arrayDistinct(problems.code)) as name, toUInt32(count()) as rows
    from ${database}.${rejectionsView}
    where ${where}
    group by name
    order by rows desc, name`,
    values,
  )
  return { total: all?.total ?? 0, byCode: Object.fromEntries(rows.map(({ name, rows }) => [name, rows])) }
}

/** How many rejections of each type are meant. */
export const countByType = async (clickhouse: ClickHouse, filter: Filter): Promise<Map<string, number>> => {
  const { where, values } = whereOf(filter)
  const rows = await clickhouse.query<{ name: string; rows: number }>(
    `select type as name, toUInt32(count()) as rows
    from ${database}.${rejectionsView}
    where ${where}
    group by name`,
    values,
  )
  return new Map(rows.map(({ name, rows }) => [name, rows]))
}
