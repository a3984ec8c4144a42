import type { Command } from 'commander'
import type { Log } from '#platform/health/log.js'
import { examples, type Session } from '../desk/session.js'
import { type Column, toTable } from '../desk/table.js'
import type { TableRebuilt } from './rebuild-table.js'

type Options = { type?: string[]; json?: boolean }

export const addRebuildAnalytics = (rebuild: Command, session: Session, log: Log): void => {
  rebuild
    .command('analytics')
    .description('make the ClickHouse tables anew from the accepted topics, services running')
    .option(
      '--type <type>',
      'only this one: a type as in its path (shop-tags), interactions or rejections; may be given more than once',
      (type: string, types: string[] = []) => [...types, type],
    )
    .option('--json', 'one line: an array with type, events, skipped, carried, rows_before, rows_after, seconds')
    .addHelpText(
      'after',
      examples('rebuild analytics --type shops', 'rebuild analytics --type interactions --type rejections'),
    )
    .addHelpText(
      'after',
      `
Each table is filled beside the old one and exchanged with it when it is full:
analysts see the old rows, then the new ones, and never a part. Uploads go on;
what they bring meanwhile is in both. ClickHouse needs room for a second copy of
the largest table. SKIPPED are messages that nobody can read. CARRIED are rows
that the topic no longer holds (interactions are kept there for a year,
rejections for 90 days): they are taken over from the old table.`,
    )
    .action((options: Options) => run(options, session, log))
}

const run = async (options: Options, session: Session, log: Log): Promise<void> => {
  const { tablesOf } = await import('./tables.js')
  const { rebuildAnalytics } = await import('./rebuild-analytics.js')
  const { interruptible } = await import('../desk/interruptible.js')
  const tables = tablesOf(session.catalogue, options.type ?? [])
  const rebuilt = await interruptible((signal) =>
    session.withPool((pool) => rebuildAnalytics({ config: session.config, tables, pool, log, signal })),
  )
  session.print(options.json ? JSON.stringify(rebuilt) : toTable(columns, rebuilt, session.width))
}

const columns: Column<TableRebuilt>[] = [
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'EVENTS', cell: ({ events }) => String(events) },
  { title: 'SKIPPED', cell: ({ skipped }) => String(skipped) },
  { title: 'CARRIED', cell: ({ carried }) => String(carried) },
  { title: 'ROWS BEFORE', cell: ({ rows_before }) => String(rows_before) },
  { title: 'AFTER', cell: ({ rows_after }) => String(rows_after) },
  { title: 'TOOK', cell: ({ seconds }) => `${seconds.toFixed(1)} s` },
]
