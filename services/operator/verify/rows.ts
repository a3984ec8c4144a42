import type { ClickHouse } from '#platform/clickhouse.js'
import { placementOf } from '#schemas/derive/clickhouse/placement.js'
import { currentTableOf, database, logTableOf, rejectionsLog } from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import { idOf, orgOf } from './key-states.js'

/** The highest version of a record that stands in all of its tables: the log, and the table of the newest versions. */
export type RowVersion = { org_id: string; id: string; version: number }

export type Rows = ReturnType<typeof createRows>

/** What ClickHouse is asked. Large answers come in slices, because each slice is held whole. */
export const createRows = (clickhouse: ClickHouse) => ({
  /** Resolves once every replica has what any of them has, so that it does not matter which is asked. */
  settle: async (types: Iterable<RecordType>): Promise<void> => {
    const { on, stored } = placementOf(clickhouse)
    if (on === '') return
    for (const table of [...[...types].flatMap(tablesWith), rejectionsLog])
      await clickhouse.command(`system sync replica${on} ${database}.${stored(table)} lightweight`)
  },
  /** The rows that were accepted since a moment; of one organisation, where one is named. */
  since: async function* (
    type: RecordType,
    { from, org, slices }: { from: number; org: string | undefined; slices: number },
  ): AsyncIterable<RowVersion[]> {
    const inSlice = `cityHash64(${type.id}) % {slices:UInt32} = {slice:UInt32}`
    const sql = newestInAll(
      type,
      `accepted_at >= fromUnixTimestamp64Milli({from:Int64}) and ${inSlice} and ({org:String} = '' or org_id = {org:String})`,
    )
    for (let slice = 0; slice < slices; slice++)
      yield (await clickhouse.query<Answer>(sql, { from, slices, slice, org: org ?? '' })).map(toRow)
  },
  /** The rows of these keys, whenever they were accepted. */
  ofKeys: async function* (type: RecordType, keys: readonly string[]): AsyncIterable<RowVersion[]> {
    // Written into the statement, because a thousand ids are too long for an address: only what cannot be mistaken for SQL.
    const safe = keys.filter((key) => orgPattern.test(orgOf(key)) && isUuid(idOf(key)))
    for (let from = 0; from < safe.length; from += keysAtOnce) {
      const pairs = safe.slice(from, from + keysAtOnce).map((key) => `('${orgOf(key)}','${idOf(key)}')`)
      const rows = await clickhouse.query<Answer>(newestInAll(type, `(org_id, ${type.id}) in (${pairs.join(',')})`))
      yield rows.map(toRow)
    }
  },
  /** How many rejections there are of each batch that was decided between two moments, by batch id. */
  rejections: async (type: RecordType, between: { from: number; to: number }): Promise<ReadonlyMap<string, number>> => {
    const rows = await clickhouse.query<{ batch_id: string; records: string }>(
      `select toString(batch_id) as batch_id, uniqExact(index) as records
       from ${database}.${rejectionsLog}
       where type = {type:String} and rejected_at >= fromUnixTimestamp64Milli({from:Int64})
         and rejected_at <= fromUnixTimestamp64Milli({to:Int64})
       group by batch_id`,
      { type: type.type, ...between },
    )
    return new Map(rows.map(({ batch_id, records }) => [batch_id, Number(records)]))
  },
})

type Answer = { org_id: string; id: string; version: string }

const keysAtOnce = 1000
const orgPattern = /^[a-z0-9-]+$/

/** The tables that have a row for each record of a type. */
const tablesWith = (type: RecordType): string[] =>
  hasVersions(type) ? [logTableOf(type.type), currentTableOf(type.type)] : [logTableOf(type.type)]

const newestInAll = (type: RecordType, where: string): string => {
  const tables = tablesWith(type)
  const newest = tables.map(
    (table) =>
      `select org_id, ${type.id} as uuid, max(version) as newest from ${database}.${table} where ${where} group by org_id, ${type.id}`,
  )
  return `select org_id, toString(uuid) as id, min(newest) as version
    from (${newest.join(' union all ')})
    group by org_id, uuid
    having count() = ${tables.length}`
}

const toRow = ({ org_id, id, version }: Answer): RowVersion => ({ org_id, id, version: Number(version) })
