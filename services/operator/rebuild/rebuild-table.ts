import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import { type Stretch, stretchesOf } from '#platform/kafka/read-topics.js'
import type { StillAlone } from '#platform/postgres/alone.js'
import { patiently } from '../command/decoder.js'
import { OperatorError } from '../command/operator-error.js'
import type { Parts } from '../command/servers.js'
import { until } from '../command/until.js'
import { conditionOf, goneFrom } from './carry-over.js'
import { type Filled, fillTable } from './fill-table.js'
import { type GoneRecords, goneUntil, newestIn, removeGone } from './gone.js'
import type { Table } from './tables.js'

export type TableRebuilt = {
  type: string
  /** Events read from the topic, messages left out because they cannot be decoded, rows that only the old log had. */
  events: number
  skipped: number
  carried: number
  /** Rows of the view, before and after. */
  rows_before: number
  rows_after: number
  seconds: number
}

type Deps = Omit<Parts, 'pool'> & { table: Table; log: Log; stillAlone: StillAlone; signal: AbortSignal }

/**
 * A new table, exchanged with the old one while the sink writes. All that was on the topic right after the exchange is read
 * from it; what came later the sink wrote into the new one. The copier, a view, keeps the new table from lagging behind.
 */
export const rebuildTable = async (deps: Deps): Promise<TableRebuilt> => {
  const { table, clickhouse } = deps
  const began = performance.now()
  const rowsBefore = await countOf(clickhouse, table.view)
  const { until, filled, carried } = await makeNew(deps).catch(async (error) => {
    // Should this fail too, the next rebuild cleans up; the first failure is the one that the operator has to know.
    await dropRebuilt(clickhouse, table).catch((left) => deps.log.error({ err: left }, 'not cleaned up'))
    throw error
  })

  const later = await patiently(() => catchUp(deps, until)).catch((error) => {
    throw new OperatorError(
      `the new table of ${table.name} is in place, but may lack what came in at that moment ` +
        `(${reasonOf(error)}): run it again`,
    )
  })
  for (const statement of table.noteChanged) await patiently(() => clickhouse.command(statement))
  return {
    type: table.name,
    events: filled.events + later.events,
    skipped: filled.skipped + later.skipped,
    carried,
    rows_before: rowsBefore,
    rows_after: await countOf(clickhouse, table.view),
    seconds: Math.round(performance.now() - began) / 1000,
  }
}

/** Makes the new table, and puts it in the place of the old one. */
const makeNew = async (deps: Deps) => {
  const { table, kafka, clickhouse, signal } = deps
  await dropRebuilt(clickhouse, table)
  const { current, stored, on } = table
  for (const statement of table.createRebuilt) await clickhouse.command(statement)
  if (current)
    for (const statement of [...current.createRebuilt, current.createFeed]) await clickhouse.command(statement)
  const columns = await columnsOf(clickhouse, table)
  await clickhouse.command(
    `create materialized view ${table.copier}${on} to ${stored.rebuilt} as select ${columns} from ${stored.log}`,
  )
  // Only now that the view is there: whatever the sink wrote before it lies below the ends of these stretches.
  const until = await stretchesOf(kafka, [table.topic])
  const filled = await fillTable({ ...deps, into: table.rebuilt, stretches: until, label: table.name })
  const gone = goneFrom(until, await stretchesOf(kafka, [table.topic]), filled.firstRead)
  const carried =
    (await carryOver(deps, columns, conditionOf(table, until.length, gone))) + (await carryHistory(deps, columns))
  // Whatever the copier brought of them after the ends of these stretches is read again in a moment.
  const all = () => Number.MAX_SAFE_INTEGER
  await removeGone(deps, [stored.rebuilt, current?.stored.rebuilt], await goneUntil(deps, filled.gone, all))

  signal.throwIfAborted()
  await deps.stillAlone()
  await quietMoment(clickhouse, table.log)
  // The newest versions first: in the moment between the two, the old log feeds both of the new tables.
  if (current) await clickhouse.command(`exchange tables ${current.stored.name} and ${current.stored.rebuilt}${on}`)
  await clickhouse.command(`exchange tables ${stored.log} and ${stored.rebuilt}${on}`)
  return { until, filled, carried }
}

/** Reads what came since. Not to be interrupted: what was inserted during the exchange reaches the new table only from here. */
const catchUp = async (deps: Deps, until: readonly Stretch[]): Promise<Pick<Filled, 'events' | 'skipped'>> => {
  const { table, kafka, clickhouse } = deps
  await clickhouse.command(`drop view if exists ${table.copier}${table.on} sync`)
  const later = { events: 0, skipped: 0 }
  const gone: GoneRecords = new Map()
  let newest = new Map<string, number>()
  let from = until
  for (let isOver = false; !isOver; ) {
    // Before the topic is asked for its end: should one of them have come back, the event of every row that is there now is read.
    newest = await newestIn(deps, gone.keys())
    const now = await stretchesOf(kafka, [table.topic])
    const stretches = now.map((each) => ({ ...each, from: Math.max(each.from, endOf(from, each.partition)) }))
    const label = 'and what came meanwhile'
    const filled = await fillTable({ ...deps, into: table.log, stretches, signal: never, label, gone })
    later.events += filled.events
    later.skipped += filled.skipped
    from = now
    isOver = filled.withoutValue === 0
  }
  await removeGone(
    deps,
    [table.stored.log, table.current?.stored.name],
    await goneUntil(deps, gone, (key) => newest.get(key) ?? 0),
  )
  await dropRebuilt(clickhouse, table)
  return later
}

const quietWithin = 10_000

/**
 * Waits until no insert into a table runs: ClickHouse shows rows in a table a moment before they are in the table that a view
 * copies them to, and an exchange would take them away. It gives up under a load without pause.
 */
const quietMoment = (clickhouse: ClickHouse, table: string): Promise<boolean> => {
  const { cluster } = clickhouse
  const processes = cluster === undefined ? 'system.processes' : `clusterAllReplicas('${cluster}', system.processes)`
  const inserts = `select 1 from ${processes} where query_kind = 'Insert' and position(query, {table:String}) > 0`
  const isQuiet = async () => (await clickhouse.query(inserts, { table })).length === 0
  return until(isQuiet, { every: 10, within: quietWithin })
}

/** Takes over from the old table what the topic no longer holds. */
const carryOver = async ({ table, clickhouse }: Deps, columns: string, condition?: string): Promise<number> => {
  if (!condition) return 0
  const rows = `${table.log} final where ${condition}`
  const carried = await countOf(clickhouse, rows)
  await clickhouse.command(`insert into ${table.rebuilt} (${columns}) select ${columns} from ${rows}`)
  return carried
}

// A slice of the old log is compared with the same slice of the new one in memory.
const rowsPerSlice = 1_000_000

/**
 * Takes over the versions that the topic has forgotten: it keeps the newest event of each record, and older ones for a week.
 * A row of a record that is not on the topic at all, or newer than all that is there, is no version of it and is left out.
 */
const carryHistory = async ({ table, clickhouse, signal }: Deps, columns: string): Promise<number> => {
  const { id, current } = table
  if (!current) return 0
  const slices = Math.ceil((await countOf(clickhouse, table.log)) / rowsPerSlice)
  let carried = 0
  for (let slice = 0; slice < slices; slice++) {
    signal.throwIfAborted()
    const inSlice = `cityHash64(${id}) % ${slices} = ${slice}`
    const rows = `(select * from ${table.log} final where ${inSlice}) as old
      inner join (select ${id}, max(version) as newest from ${table.rebuilt} where ${inSlice} group by ${id}) as made using (${id})
      where version < newest and (${id}, version) not in (select ${id}, version from ${table.rebuilt} where ${inSlice})`
    carried += await countOf(clickhouse, rows)
    await clickhouse.command(`insert into ${table.rebuilt} (${columns}) select ${columns} from ${rows}`)
  }
  return carried
}

// The views first: without its target, a view would make inserts into its source fail.
const dropRebuilt = async (clickhouse: ClickHouse, { copier, rebuilt, stored, current, on }: Table): Promise<void> => {
  const views = [copier, ...(current ? [current.feed] : [])]
  const tables = new Set([rebuilt, stored.rebuilt, ...(current ? [current.rebuilt, current.stored.rebuilt] : [])])
  for (const view of views) await clickhouse.command(`drop view if exists ${view}${on} sync`)
  // Without this setting a server refuses to drop more than 50 GB.
  for (const table of tables)
    await clickhouse.command(`drop table if exists ${table}${on} sync settings max_table_size_to_drop = 0`)
}

/** Those that are written; others ClickHouse fills itself. */
const columnsOf = async (clickhouse: ClickHouse, table: Table): Promise<string> => {
  const columns = await clickhouse.query<{ name: string; default_type: string }>(`describe table ${table.rebuilt}`)
  const written = columns.filter(({ default_type }) => default_type !== 'MATERIALIZED')
  return written.map(({ name }) => `\`${name}\``).join(', ')
}

const countOf = async (clickhouse: ClickHouse, from: string): Promise<number> => {
  const [row] = await clickhouse.query<{ rows: number | string }>(`select count() as rows from ${from}`)
  return Number(row?.rows ?? 0)
}

const endOf = (stretches: readonly Stretch[], partition: number): number =>
  stretches.find((each) => each.partition === partition)?.until ?? 0

const never = new AbortController().signal
