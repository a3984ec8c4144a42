import type { Command } from 'commander'
import type { Log } from '#platform/health/log.js'
import { alone } from '../command/alone.js'
import { interruptible } from '../command/operator-error.js'
import type { Parts, Words } from '../command/servers.js'
import { examplesAnd, type Session } from '../command/session.js'
import { type Column, toTable } from '../command/table.js'
import type { TableRebuilt } from './rebuild-table.js'
import { type Table, tablesOf } from './tables.js'

type Options = { type?: string[]; json?: boolean }

export const addRebuildAnalytics = (rebuild: Command, session: Session): void => {
  rebuild
    .command('analytics')
    .description('make the ClickHouse tables anew from the accepted topics, services running')
    .option(
      '--type <type>',
      'only this one: a type as in its path (shop-tags), interactions, rejections or waiting; may be given more than once',
      (type: string, types: string[] = []) => [...types, type],
    )
    .option('--json', 'one line: an array with type, events, skipped, carried, rows_before, rows_after, seconds')
    .addHelpText('after', examplesAnd(about, ...calls))
    .action((options: Options) => run(options, session))
}

const calls = ['rebuild analytics --type shops', 'rebuild analytics --type interactions --type rejections']
const about = `
Each table is filled beside the old one and exchanged with it when it is full:
analysts see the old rows, then the new ones, and never a part. Uploads go on;
what they bring meanwhile is in both. ClickHouse needs room for a second copy of
the largest table. SKIPPED are messages that cannot be decoded. CARRIED are rows
that the topic no longer holds (interactions are kept there for a year,
rejections and waiting for 90 days, a replaced version of a record for a week): they are
taken over from the old table.`

// Counting and copying a large table takes as long as it takes.
const requestTimeout = 3_600_000

const run = async (options: Options, session: Session): Promise<void> => {
  const tables = tablesOf(session.catalogue, options.type ?? [], session.config.CLICKHOUSE_CLUSTER)
  const rebuilt = await interruptible(interrupted, (signal) =>
    session.withParts(
      ['pool', 'kafka', 'registry', 'clickhouse'],
      (parts) => rebuildAnalytics({ ...parts, tables, log: session.log, signal }),
      { requestTimeout, words },
    ),
  )
  session.print(options.json ? JSON.stringify(rebuilt) : toTable(columns, rebuilt, session.width))
}

/** What is said when an operator interrupts a rebuild. */
export const interrupted = 'interrupted: what was not swapped in yet is cleaned up, and nothing else was changed'

const outdated = (address: string, reason: string): string =>
  `ClickHouse at ${address} lacks a table or a column of Weir (${reason}): run "weir provision" first, then try again`

const words: Words = {
  ACCESS_DENIED: (address, reason) =>
    `ClickHouse at ${address} does not let this user make tables (${reason}): ` +
    "name the user of Weir's provisioning in CLICKHOUSE_URL",
  UNKNOWN_TABLE: outdated,
  UNKNOWN_DATABASE: outdated,
  UNKNOWN_IDENTIFIER: outdated,
}

/** New ClickHouse tables from the accepted and rejected topics, one after another, each swapped in as soon as it is full. */
export const rebuildAnalytics = (
  deps: Parts & { tables: readonly Table[]; log: Log; signal: AbortSignal },
): Promise<TableRebuilt[]> =>
  alone(deps.pool, 'rebuild analytics', async (stillAlone) => {
    // Loaded only here, with the Avro library: every other command starts sooner.
    const { rebuildTable } = await import('./rebuild-table.js')
    const rebuilt: TableRebuilt[] = []
    for (const table of deps.tables) rebuilt.push(await rebuildTable({ ...deps, table, stillAlone }))
    return rebuilt
  })

const columns: Column<TableRebuilt>[] = [
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'EVENTS', cell: ({ events }) => String(events) },
  { title: 'SKIPPED', cell: ({ skipped }) => String(skipped) },
  { title: 'CARRIED', cell: ({ carried }) => String(carried) },
  { title: 'ROWS BEFORE', cell: ({ rows_before }) => String(rows_before) },
  { title: 'AFTER', cell: ({ rows_after }) => String(rows_after) },
  { title: 'TOOK', cell: ({ seconds }) => `${seconds.toFixed(1)} s` },
]
