import type { ClickHouse } from '#platform/clickhouse.js'
import { database, logTableOf } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import { idOf, orgOf } from './key-states.js'

/** The highest version that ClickHouse has of a record. */
export type Row = { org_id: string; id: string; version: number }

type Answer = { org_id: string; id: string; version: string }

/** What was accepted since then, in slices, because an answer is held whole. */
export async function* rowsSince(
  clickhouse: ClickHouse,
  type: RecordType,
  { from, org, slices }: { from: number; org: string | undefined; slices: number },
): AsyncIterable<Row[]> {
  for (let slice = 0; slice < slices; slice++) {
    const rows = await clickhouse.query<Answer>(
      `select org_id, toString(${type.id}) as id, max(version) as version
       from ${database}.${logTableOf(type.type)}
       where accepted_at >= fromUnixTimestamp64Milli({from:Int64}) and cityHash64(${type.id}) % {slices:UInt32} = {slice:UInt32}
         and ({org:String} = '' or org_id = {org:String})
       group by org_id, ${type.id}`,
      { from, slices, slice, org: org ?? '' },
    )
    yield rows.map(toRow)
  }
}

const keysAtOnce = 1000
const orgPattern = /^[a-z0-9-]+$/

/** The rows of these keys, whenever they were accepted. */
export async function* findRows(
  clickhouse: ClickHouse,
  type: RecordType,
  keys: readonly string[],
): AsyncIterable<Row[]> {
  // Written into the statement, because a thousand ids are too long for an address: only what cannot be mistaken for SQL.
  const safe = keys.filter((key) => orgPattern.test(orgOf(key)) && isUuid(idOf(key)))
  for (let from = 0; from < safe.length; from += keysAtOnce) {
    const pairs = safe.slice(from, from + keysAtOnce).map((key) => `('${orgOf(key)}','${idOf(key)}')`)
    const rows = await clickhouse.query<Answer>(
      `select org_id, toString(${type.id}) as id, max(version) as version
       from ${database}.${logTableOf(type.type)}
       where (org_id, ${type.id}) in (${pairs.join(',')})
       group by org_id, ${type.id}`,
    )
    yield rows.map(toRow)
  }
}

const toRow = ({ org_id, id, version }: Answer): Row => ({ org_id, id, version: Number(version) })
