import { createHash } from 'node:crypto'
import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { tableColumns } from '#schemas/derive/clickhouse/columns.js'
import { keptColumns, keptGranularity, keptKey, keptMarts } from '#schemas/derive/clickhouse/kept.js'
import { onCluster, oneServer, type Placement, placementOf, replicaPath } from '#schemas/derive/clickhouse/placement.js'
import { tablesSql, viewsSql } from '#schemas/derive/clickhouse.js'
import {
  currentTableOf,
  database,
  keptTableOf,
  logTableOf,
  maskedDatabase,
  rejectionsLog,
} from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { updateAnalysts } from '../access/analysts.js'
import { OperatorError } from '../command/operator-error.js'
import { insist } from '../command/until.js'

export type TablesProvisioned = {
  /** How many were run: none where all of them had been run before, and that is enough. */
  statements: number
  /** Users of one organisation each; undefined where the user of this provisioning may not look. */
  analysts: number | undefined
  /** Log tables of an older Weir, which keep only the newest version of each record. */
  outdated: string[]
}

/**
 * Makes tables, then views, which may read new tables, and lets the analysts read them. A changed column is altered, or
 * refused before anything else is done. Types `newer` are left alone: a newer Weir made them, with fields unknown here. With `quick`,
 * what the same statements made before is left as it is: they take seconds, though they change nothing.
 */
export const provisionTables = async (
  clickhouse: ClickHouse,
  catalogue: Catalogue,
  newer: ReadonlySet<string> = new Set(),
  { quick = false } = {},
): Promise<TablesProvisioned> => {
  const types = [...catalogue.all.values()].filter(({ type }) => !newer.has(type))
  const own = { ...catalogue, all: new Map(types.map((type) => [type.type, type])) }
  const placed = await findPlacement(clickhouse)
  const [makeTables, makeViews] = [tablesSql(own, placed), viewsSql(own, placed, catalogue)]
  const declared = [...makeTables, ...makeViews]
  if (quick && (await isMade(clickhouse, declared))) return { statements: 0, analysts: 0, outdated: [] }
  const tables = [
    ...(await alterationsOf(clickhouse, types, placed)),
    ...(await outdatedKept(clickhouse, placed)),
    ...((await isEmpty(clickhouse, placed)) ? makeTables.filter((each) => !ofOlderTables.test(each)) : makeTables),
  ]
  const views = [...makeViews, madeView(declared, placed)]
  for (const statement of tables) await run(clickhouse, statement)
  const analysts = await updateAnalysts(clickhouse, catalogue)
  for (const statement of views) await run(clickhouse, statement)
  return { statements: tables.length + views.length, analysts, outdated: await findOutdated(clickhouse, catalogue) }
}

/** Whether no Weir was provisioned here before. Of a cluster, one server does not tell it. */
const isEmpty = async (clickhouse: ClickHouse, placed: Placement): Promise<boolean> => {
  if (placed !== oneServer) return false
  const any = 'select 1 from system.tables where database = {database:String} limit 1'
  return (await clickhouse.query(any, { database })).length === 0
}
/** What brings an older Weir's tables up to date: a third of the time, and it changes nothing in tables that were only just made. */
const ofOlderTables = /^(alter table|insert into) /

const fingerprintOf = (statements: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(statements)).digest('hex')

/** Says which statements the tables and views were made by; the last of them, so that it says nothing of what was only begun. */
const madeView = (statements: readonly string[], { on }: Placement): string =>
  `create or replace view ${database}.${madeName}${on} as select '${fingerprintOf(statements)}' as fingerprint`
const madeName = 'made_by'

/** Whether these statements were the last to make tables and views, and all of those are there. */
const isMade = async (clickhouse: ClickHouse, statements: readonly string[]): Promise<boolean> => {
  const names = new Set([
    `${database}.${madeName}`,
    ...statements.flatMap((statement) => nameMadeBy.exec(statement)?.[1] ?? []),
  ])
  const found = await clickhouse.query<{ name: string }>(
    `select name from system.tables
    where database in ({databases:Array(String)}) and concat(database, '.', name) in ({names:Array(String)})`,
    { databases: [database, maskedDatabase], names: [...names] },
  )
  if (found.length < names.size) return false
  const [made] = await clickhouse.query<{ fingerprint: string }>(`select fingerprint from ${database}.${madeName}`)
  return made?.fingerprint === fingerprintOf(statements)
}
const nameMadeBy = /^create (?:or replace )?(?:materialized )?(?:table|view) (?:if not exists )?(\w+\.\w+)/

/**
 * Where the tables stand already, or will. A server that is new in the cluster has to join the others at their paths in Keeper,
 * which a rebuild changes. A table of one server stays where it is: under its name no other can be made.
 */
const findPlacement = async (clickhouse: ClickHouse): Promise<Placement> => {
  const { cluster } = clickhouse
  const kind = cluster === undefined ? 'Distributed' : '%MergeTree'
  const [other] = await clickhouse.query<{ name: string; engine: string }>(
    'select name, engine from system.tables where database = {database:String} and name = {log:String} and engine like {kind:String}',
    { database, log: rejectionsLog, kind },
  )
  if (other && cluster === undefined)
    throw new OperatorError(
      `the tables of ${database} are spread over a cluster: name it in CLICKHOUSE_CLUSTER, everywhere where CLICKHOUSE_URL is set`,
    )
  if (other)
    throw new OperatorError(
      `${database}.${other.name} is a table of one server (${other.engine}), and CLICKHOUSE_CLUSTER=${cluster} cannot spread it: ` +
        `begin with servers without the database ${database}, and let "weir rebuild analytics" fill them`,
    )
  if (cluster === undefined) return oneServer
  const shards = await clickhouse.query<{ shard: number; internal: number }>(
    'select shard_num as shard, toUInt8(internal_replication) as internal from system.clusters where cluster = {cluster:String}',
    { cluster },
  )
  if (shards.length === 0)
    throw new OperatorError(
      `ClickHouse knows no cluster ${cluster}: CLICKHOUSE_CLUSTER is a name in its remote_servers`,
    )
  if (shards.some(({ internal }) => internal !== 1))
    throw new OperatorError(
      `the cluster ${cluster} would write each row to every replica itself: set internal_replication to true in its shards`,
    )
  const found = await clickhouse.query<{ name: string; made_with: string }>(
    `select name, any(engine_full) as made_with
    from clusterAllReplicas({cluster:Identifier}, system.tables)
    where database = {database:String} and startsWith(engine, 'Replicated') and not endsWith(name, '_rebuilt_local')
    group by name`,
    { cluster, database },
  )
  const paths = new Map(found.map(({ name, made_with }) => [name, /'(\/[^']+)'/.exec(made_with)?.[1]]))
  const { stored } = placementOf(clickhouse)
  return onCluster(cluster, (table) => paths.get(stored(table)) ?? replicaPath(table))
}

/** Statements for the columns that are there and are declared otherwise now; throws where a column cannot become that. */
const alterationsOf = async (
  clickhouse: ClickHouse,
  types: readonly RecordType[],
  { namesOf, on }: Placement,
): Promise<string[]> => {
  const declared = new Map(
    types.flatMap((type) =>
      [logTableOf(type.type), ...(hasVersions(type) ? [currentTableOf(type.type)] : [])]
        .flatMap(namesOf)
        .flatMap((table) => tableColumns(type).map((column) => [`${table}.${column.name}`, column.type] as const)),
    ),
  )
  const found = await clickhouse.query<{ table: string; name: string; type: string }>(
    'select table, name, type from system.columns where database = {database:String} order by table, position',
    { database },
  )
  return found.flatMap(({ table, name, type }) => {
    const wanted = declared.get(`${table}.${name}`) ?? type
    if (wanted === type) return []
    if (holdsAllOf(wanted, type)) return [`alter table ${database}.${table}${on} modify column \`${name}\` ${wanted}`]
    throw new OperatorError(
      `the column ${name} of ${database}.${table} is ${type} and cannot become ${wanted}: ` +
        `leave the field ${name} as it was, and add a new field beside it`,
    )
  })
}

/** Kept rows of marts whose columns or order have changed are thrown away: the sink makes them anew. */
const outdatedKept = async (clickhouse: ClickHouse, { stored, namesOf, on }: Placement): Promise<string[]> => {
  const found = await clickhouse.query<{ table: string; columns: [string, string][]; key: string; made_with: string }>(
    `select table, arraySort(groupArray((name, type))) as columns, any(sorting_key) as key, any(engine_full) as made_with
    from system.columns
    join (
      select name as table, sorting_key, engine_full from system.tables where database = {database:String}
    ) as tables using (table)
    where database = {database:String}
    group by table`,
    { database },
  )
  const there = new Map(found.map((each) => [each.table, each]))
  return keptMarts.flatMap((mart) => {
    const declared = keptColumns(mart).map(({ name, type }) => [name, type])
    const table = there.get(stored(keptTableOf(mart.name)))
    if (table === undefined) return []
    const isAsDeclared =
      JSON.stringify(table.columns) === JSON.stringify(declared.sort()) &&
      table.key === keptKey(mart).join(', ') &&
      table.made_with.includes(`index_granularity = ${keptGranularity}`)
    if (isAsDeclared) return []
    return namesOf(keptTableOf(mart.name)).map((name) => `drop table if exists ${database}.${name}${on} sync`)
  })
}

/** Whether a column of this type takes every value of that one as it is. */
const holdsAllOf = (wanted: string, type: string): boolean => {
  const valuesOf = (text: string): string =>
    text.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Nullable\((.*)\)$/, '$1')
  return valuesOf(wanted) === valuesOf(type) && (wanted.includes('Nullable(') || !type.includes('Nullable('))
}

// The order of a table's rows cannot be altered.
const findOutdated = async (clickhouse: ClickHouse, catalogue: Catalogue): Promise<string[]> => {
  const { stored } = placementOf(clickhouse)
  const logs = [...catalogue.all.values()].filter(hasVersions).map(({ type }) => stored(logTableOf(type)))
  const found = await clickhouse.query<{ name: string }>(
    `select name from system.tables
    where database = {database:String} and has({logs:Array(String)}, name) and not endsWith(sorting_key, ', version')`,
    { database, logs },
  )
  return found.map(({ name }) => name)
}

// ClickHouse replaces a view by exchanging two names: of two operators at once, one can find the other's half done.
const run = (clickhouse: ClickHouse, statement: string): Promise<void> =>
  insist(() => clickhouse.command(statement)).catch((error: unknown) => {
    const [first = ''] = statement.split('\n')
    throw new OperatorError(`ClickHouse refuses "${first.replace(/ \($/, '')}": ${reasonOf(error)}`)
  })
