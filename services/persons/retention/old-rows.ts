import type { Counted } from '#ledger/erasures/erasures.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { quote } from '#schemas/derive/clickhouse/columns.js'
import { allChanged, martsInParts } from '#schemas/derive/clickhouse/kept.js'
import { placementOf } from '#schemas/derive/clickhouse/placement.js'
import * as names from '#schemas/derive/names.js'
import { hasVersions } from '#schemas/record.js'
import { transaction } from '#schemas/records/transaction.js'
import { type GivesWay, withoutRest } from '../remove/giving-way.js'
import { createRowRemoval, manyHashes } from '../remove/rows.js'
import { isTooOldSql, type KeptFrom } from './cutoffs.js'

/** Rows of a table that are too old: in which table, and which. `inPlace` reads from the tables that hold the rows, as a mutation has to. */
type Old = { table: string; rows: (inPlace: boolean) => string }

/**
 * Rows in ClickHouse that are too old. A record goes with all of its versions when the newest of them is; former versions of a younger record
 * are history, which has a setting of its own.
 */
export const createOldRows = (
  clickhouse: ClickHouse,
  place: { cluster?: string | undefined },
  givesWay: GivesWay = withoutRest,
) => {
  const placed = placementOf(place)
  const removal = createRowRemoval(clickhouse, place)

  const oldOf = (cutoffs: KeptFrom): Old[] => {
    const { type } = cutoffs
    const id = quote(type.id)
    const log = names.logTableOf(type.type)
    const isOld = isTooOldSql(cutoffs, 'accepted_at')
    const from = (inPlace: boolean): string => `${names.database}.${inPlace ? placed.stored(log) : log}`
    const rows = (inPlace: boolean): string => {
      if (!hasVersions(type)) return isOld
      const table = from(inPlace)
      return `${isOld} and (org_id, ${id}) not in (
        select org_id, ${id} from ${table}
        where not (${isOld}) and (org_id, ${id}) in (select org_id, ${id} from ${table} where ${isOld})
      )`
    }
    // Before the log, which they are found by.
    const sorted = type === transaction ? martsInParts.map(({ name }) => names.sortedTableOf(name)) : []
    return [
      ...sorted.map((table) => ({
        table,
        rows: (inPlace: boolean) =>
          `(org_id, ${id}) in (select org_id, ${id} from ${from(inPlace)} where ${rows(inPlace)})`,
      })),
      ...(hasVersions(type) ? [{ table: names.currentTableOf(type.type), rows }] : []),
      { table: log, rows },
      { table: names.rejectionsLog, rows: () => `type = '${type.type}' and ${isTooOldSql(cutoffs, 'rejected_at')}` },
      { table: names.waitingLog, rows: () => `type = '${type.type}' and ${isTooOldSql(cutoffs, 'changed_at')}` },
    ]
  }
  const countIn = async ({ table, rows }: Old): Promise<Counted> => {
    const where = `${names.database}.${table}`
    const [row] = await givesWay(() =>
      clickhouse.query<{ count: string }>(`select count() as count from ${where} where ${rows(false)}`, {}, manyHashes),
    )
    return { where, count: Number(row?.count ?? 0) }
  }

  return {
    count: async (cutoffs: KeptFrom): Promise<Counted[]> => {
      const counts: Counted[] = []
      for (const old of oldOf(cutoffs)) counts.push(await countIn(old))
      return counts.filter(({ count }) => count > 0)
    },
    /** Removes them from the disk, and has the marts made anew; resolves to how many they were. */
    remove: async (cutoffs: KeptFrom, signal: AbortSignal): Promise<Counted[]> => {
      const removed: Counted[] = []
      const touched: string[] = []
      for (const old of oldOf(cutoffs)) {
        signal.throwIfAborted()
        const counted = await countIn(old)
        if (counted.count === 0) continue
        const table = placed.stored(old.table)
        await givesWay(() => removal.removeRows(table, old.rows(true)))
        touched.push(table)
        removed.push(counted)
      }
      if (touched.length === 0) return []
      await clickhouse.command(allChanged(cutoffs.type.type))
      await removal.untilPartsAreGone(touched, signal)
      return removed
    },
    /** Of these records those of which ClickHouse has a version that is not too old. */
    findYounger: async (cutoffs: KeptFrom, ids: readonly string[]): Promise<Set<string>> => {
      const { type } = cutoffs
      const id = quote(type.id)
      const rows = await clickhouse.query<{ org: string; id: string }>(
        `select distinct org_id as org, toString(${id}) as id
        from ${names.database}.${names.logTableOf(type.type)}
        where ${id} in {ids:Array(UUID)} and not (${isTooOldSql(cutoffs, 'accepted_at')})`,
        { ids },
      )
      return new Set(rows.map(({ org, id }) => names.entityKey(org, id)))
    },
  }
}
