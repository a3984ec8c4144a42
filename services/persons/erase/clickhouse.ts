import { crc32 } from 'node:zlib'
import type { Counted } from '#ledger/erasures/erasures.js'
import { asHashedSql } from '#ledger/erasures/gates.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { quote } from '#schemas/derive/clickhouse/columns.js'
import { allChanged } from '#schemas/derive/clickhouse/kept.js'
import { placementOf } from '#schemas/derive/clickhouse/placement.js'
import { database, rejectionsLog, waitingLog } from '#schemas/derive/names.js'
import { personFieldsOf, typesOfPersons } from '#schemas/persons/about-persons.js'
import { formsOfOrg } from '#schemas/set-aside.js'
import { uuidPattern } from '#schemas/uuid.js'
import { type GivesWay, withoutRest } from '../remove/giving-way.js'
import { createRowRemoval, manyHashes } from '../remove/rows.js'
import { addCounts, type Sought } from './sought.js'

// What analysts' tables have of persons. Which tables have such columns ClickHouse itself is asked: so none is forgotten, kept marts and
// what a rebuild left behind included.

type Table = { table: string /** An expression: the names in a row, as they are hashed. */; names: string }

const isMergeTree = `table in (select name from system.tables where database = {database:String} and engine like '%MergeTree%')`

export const createErasedTables = (
  clickhouse: ClickHouse,
  catalogue: Catalogue,
  place: { cluster?: string | undefined },
  givesWay: GivesWay = withoutRest,
) => {
  const placed = placementOf(place)
  const { everywhere, removeRows, untilPartsAreGone } = createRowRemoval(clickhouse, place)
  const fields = [
    ...new Set(typesOfPersons(catalogue).flatMap((type) => personFieldsOf(type).map(({ field }) => field))),
  ]

  const findTables = async (): Promise<Table[]> => {
    const columns = await clickhouse.query<{ table: string; names: string[] }>(
      `select table, groupArray(name) as names from system.columns
      where database = {database:String} and (has({fields:Array(String)}, name) or table in {texts:Array(String)} and name = 'org_id')
        and ${isMergeTree}
      group by table order by table`,
      { database, fields, texts: [placed.stored(rejectionsLog), placed.stored(waitingLog)] },
    )
    return columns.map(({ table, names }) => ({ table, names: namesIn(table, names) }))
  }
  const findTablesOfOrgs = async (): Promise<string[]> => {
    const columns = await clickhouse.query<{ table: string }>(
      `select table from system.columns where database = {database:String} and name = 'org_id' and ${isMergeTree} order by table`,
      { database },
    )
    return columns.map(({ table }) => table)
  }
  const namesIn = (table: string, columns: readonly string[]): string => {
    if (table === placed.stored(rejectionsLog)) {
      const texts = fields.map((field) => `JSONExtractString(record, '${field}')`)
      // What could not be decoded is kept as bytes, in Base64, and of no organisation.
      const record = `if(org_id = '', tryBase64Decode(record), record)`
      return `arrayConcat(extractAll(lower(concat(${record}, ' ', ifNull(id, ''), ' ', toString(problems))), '${uuidPattern}'), arrayMap(each -> ${asHashedSql('each')}, [${texts}]))`
    }
    if (table === placed.stored(waitingLog))
      return `arrayConcat([toString(id)], arrayMap(each -> toString(each.id), missing))`
    return `arrayMap(each -> ${asHashedSql('each')}, [${columns.map((name) => `ifNull(toString(${quote(name)}), '')`)}])`
  }
  /** All that an organisation has; of what could not be decoded that in which its id stands. */
  const isOfWhole = (table: string, { orgId }: Sought): string => {
    if (table !== placed.stored(rejectionsLog)) return `org_id = '${orgId}'`
    const forms = formsOfOrg(orgId).map((form) => `unhex('${form.toString('hex')}')`)
    return `(org_id = '${orgId}' or org_id = '' and multiSearchAny(tryBase64Decode(record), [${forms}]))`
  }
  const isOf = (table: string, { orgId }: Sought): string =>
    table === placed.stored(rejectionsLog) ? `org_id in ('${orgId}', '')` : `org_id = '${orgId}'`
  /**
   * The hashes of the persons whom a row names: so they are named neither in ClickHouse's query log nor in that of its mutations. A checksum of
   * each name, where the ids are known, leaves only what may be theirs to be hashed, which takes several times as long.
   */
  const hashesIn = ({ names }: Table, { salt, persons, ids }: Sought): string => {
    const hashes = [...persons.values()].flat().map((hash) => `'${hash.toUpperCase()}'`)
    const checksums = new Set([...(ids ?? [])].map((id) => crc32(id)))
    const worthIt = checksums.size === 0 ? names : `arrayFilter(each -> CRC32(each) in (${[...checksums]}), ${names})`
    return `arrayFilter(each -> each in (${hashes}), arrayMap(each -> hex(SHA256(concat(unhex('${salt.toString('hex')}'), each))), ${worthIt}))`
  }

  return {
    /** How many rows name each person, by the name of the table. */
    count: async (sought: Sought): Promise<Map<string, Counted[]>> => {
      const counts = new Map<string, Counted[]>([...sought.persons.keys()].map((erasureId) => [erasureId, []]))
      for (const erasureId of sought.whole)
        counts.set(
          erasureId,
          (await countAll(sought)).map(({ table, count }) => ({ where: `${database}.${table}`, count })),
        )
      if (sought.persons.size > 0)
        for (const table of await findTables())
          addCounts(sought, `${database}.${table.table}`, await countByHash(table, sought), counts)
      return counts
    },
    /** Removes their rows from the disk, and has the marts of all organisations made anew; resolves when no part of a table has them any more. */
    remove: async (sought: Sought, signal: AbortSignal): Promise<void> => {
      const touched: string[] = []
      const removeFrom = async (table: string, rows: string): Promise<void> => {
        touched.push(table)
        await givesWay(() => removeRows(table, rows))
      }
      if (sought.whole.length > 0) {
        for (const { table } of await countAll(sought)) await removeFrom(table, isOfWhole(table, sought))
        await untilPartsAreGone(touched, signal)
        return
      }
      for (const table of await findTables()) {
        if ((await countByHash(table, sought)).length === 0) continue
        await removeFrom(table.table, `${isOf(table.table, sought)} and notEmpty(${hashesIn(table, sought)})`)
      }
      for (const { type } of typesOfPersons(catalogue)) await clickhouse.command(allChanged(type))
      await untilPartsAreGone(touched, signal)
    },
  }

  /** What an organisation has, table by table. */
  async function countAll(sought: Sought): Promise<{ table: string; count: number }[]> {
    const counts: { table: string; count: number }[] = []
    for (const table of await findTablesOfOrgs()) {
      const [row] = await givesWay(() =>
        clickhouse.query<{ count: string }>(
          `select count() as count from ${everywhere(`${database}.${table}`)} where ${isOfWhole(table, sought)}`,
        ),
      )
      if (Number(row?.count) > 0) counts.push({ table, count: Number(row?.count) })
    }
    return counts
  }

  async function countByHash(table: Table, sought: Sought): Promise<{ hash: string; count: number }[]> {
    const rows = await givesWay(() =>
      clickhouse.query<{ hash: string; count: string }>(
        `select arrayJoin(arrayDistinct(${hashesIn(table, sought)})) as hash, count() as count
        from ${everywhere(`${database}.${table.table}`)}
        where ${isOf(table.table, sought)}
        group by hash`,
        {},
        manyHashes,
      ),
    )
    return rows.map(({ hash, count }) => ({ hash, count: Number(count) }))
  }
}
