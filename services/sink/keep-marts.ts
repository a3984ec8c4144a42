import type { ClickHouse } from '#platform/clickhouse.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as sql from '#schemas/derive/clickhouse/keeping.js'
import {
  everSince,
  isInParts,
  type KeptMart,
  keptMarts,
  lawOf,
  type MartInParts,
  type SomeParts,
} from '#schemas/derive/clickhouse/kept.js'
import { placementOf } from '#schemas/derive/clickhouse/placement.js'
import { changesTable, currentTableOf, database, logTableOf, shownTable } from '#schemas/derive/names.js'
import { throughMark, wholeMark } from '#schemas/marts/parts.js'
import { type Change, type Due, findDue, type Shown, settledAfter } from './due-marts.js'

export type MartKeeper = ReturnType<typeof createMartKeeper>

// With more parts than this, all of them at once cost less.
const mostParts = 1000

/** Keeps the marts of large organisations: those with so many transactions and interactions. */
export const createMartKeeper = (clickhouse: ClickHouse, catalogue: Catalogue, largeFrom: number) => {
  const placed = placementOf(clickhouse)
  const run = async (statements: readonly string[]): Promise<void> => {
    for (const statement of statements) await clickhouse.command(statement)
  }

  const keepAll = async (mart: KeptMart, org: string, at: string): Promise<void> => {
    if (isInParts(mart)) {
      await run(sql.sortAgainSql(mart, org, placed))
      for (const slice of await slicesOf(mart, org)) await run([sql.keepSql(mart, org, at, slice)])
    } else await run([sql.keepSql(mart, org, at)])
    await run([sql.showAllSql(mart, org, at)])
  }

  /** Parts one after another, which are together all that there are and may be. */
  const slicesOf = async (mart: MartInParts, org: string): Promise<SomeParts[]> => {
    const [{ bounds } = { bounds: [] }] = await clickhouse.query<{ bounds: number[] }>(sql.boundsSql(mart, org))
    return [undefined, ...bounds].map((from, n) => ({ from, below: bounds[n] }))
  }

  /** The parts that records have come to or gone from since; undefined where all have to be made anew. */
  const touched = async (mart: MartInParts, org: string, since: ReadonlyMap<string, string>) => {
    const parts = new Set<number>()
    for (const [type, from] of since) {
      if (!(type in mart.kept.parts.from) || from === everSince) return undefined
      const found = await clickhouse.query<{ part: number }>(sql.touchedSql(mart, catalogue, type, org, from))
      for (const { part } of found) parts.add(part)
      if (parts.size > mostParts) return undefined
    }
    return [...parts]
  }

  return {
    /** The organisations that marts are kept for. */
    large: async (): Promise<string[]> =>
      (await clickhouse.query<{ org: string }>(largeSql, { largeFrom })).map(({ org }) => org),
    /** What has to be made anew now of these organisations, the longest overdue first. */
    due: async (large: readonly string[]): Promise<Due[]> => {
      if (large.length === 0) return []
      const changes = await clickhouse.query<Change>(changesSql, { large })
      const shown = await clickhouse.query<Shown>(shownSql, { large, laws: keptMarts.map(lawOf) })
      const [clock] = await clickhouse.query<{ now: number }>(`select ${millisecondsOf('now64(3)')} as now`)
      return findDue({ marts: keptMarts, large, changes, shown, now: clock?.now ?? 0 })
    },
    /** Makes what has changed anew, and shows it. */
    keep: async ({ org, mart, isWhole }: Due): Promise<void> => {
      const [begun] = await clickhouse.query<{ at: string }>("select toString(now64(6, 'UTC')) as at")
      const at = begun?.at ?? ''
      if (isWhole || !isInParts(mart)) return keepAll(mart, org, at)
      const changed = await clickhouse.query<{ type: string; since: string }>(sinceSql, {
        ...{ org, mart: mart.name, law: lawOf(mart), types: mart.from },
      })
      const since = new Map(changed.map((each) => [each.type, each.since]))
      const parts = await touched(mart, org, since)
      if (!parts) return keepAll(mart, org, at)
      const purchasedSince = since.get('transactions')
      if (purchasedSince !== undefined) await run(sql.sortSql(mart, org, purchasedSince))
      if (parts.length > 0) await run([sql.keepSql(mart, org, at, parts)])
      await run([sql.showPartsSql(mart, org, at, parts)])
    },
    /** Removes what is no longer shown. */
    forget: (): Promise<void> => run(keptMarts.map((mart) => sql.forgetSql(mart, placed))),
  }
}

const millisecondsOf = (moment: string): string =>
  `toFloat64(toUnixTimestamp64Milli(toDateTime64(${moment}, 3, 'UTC')))`

const largeSql = `select org_id as org
from (
  select org_id, count() as rows from ${database}.${currentTableOf('transactions')} group by org_id
  union all
  select org_id, count() as rows from ${database}.${logTableOf('interactions')} group by org_id
)
group by org
having sum(rows) >= {largeFrom:UInt64}`

const changesSql = `select org_id as org, type, ${millisecondsOf('max(stored_at)')} as storedAt
from ${database}.${changesTable}
where org_id in {large:Array(String)}
group by org, type`

const shownSql = `select org_id as org, mart, ${millisecondsOf(`maxIf(kept_at, part = ${throughMark})`)} as keptAt,
  ${millisecondsOf(`maxIf(kept_at, part = ${wholeMark})`)} as wholeAt
from ${database}.${shownTable}
where org_id in {large:Array(String)} and law in {laws:Array(String)} and part in (${throughMark}, ${wholeMark})
group by org, mart`

// As long before the last making as rows may have been written and not yet been seen by it.
const sinceSql = `select type, toString(min(since)) as since
from ${database}.${changesTable}
where org_id = {org:String} and type in {types:Array(String)} and stored_at >= (
  select max(kept_at) - interval ${settledAfter / 1000} second
  from ${database}.${shownTable}
  where org_id = {org:String} and mart = {mart:String} and law = {law:String} and part = ${throughMark}
)
group by type`
