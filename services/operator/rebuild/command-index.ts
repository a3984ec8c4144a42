import type { Command } from 'commander'
import type { Comparison } from '#ledger/rebuilt-entities.js'
import type { Log } from '#platform/health/log.js'
import { examples, type Session } from '../desk/session.js'
import { type Column, toTable } from '../desk/table.js'
import type { IndexRebuilt } from './rebuild-index.js'

type Options = { dryRun?: boolean; json?: boolean }

export const addRebuildIndex = (rebuild: Command, session: Session, log: Log): void => {
  rebuild
    .command('index')
    .description('make the entity index (what records may refer to) anew from the accepted topics, services running')
    .option('--dry-run', 'only compare: make a new index, tell how the present one differs, and throw it away')
    .option('--json', 'one line of JSON: entities, added, removed, undecodable, swapped, types[]')
    .addHelpText('after', examples('rebuild index --dry-run', 'rebuild index'))
    .addHelpText(
      'after',
      `
Uploads go on meanwhile, and none is refused for it. Integrity has to run, or at
least to have published all that it decided. ADDED is what the topics hold and
the present index lacks: records that refer to it were refused. REMOVED is what
the present index holds and no topic knows of.`,
    )
    .action((options: Options) => run(options, session, log))
}

const run = async (options: Options, session: Session, log: Log): Promise<void> => {
  const { rebuildIndex } = await import('./rebuild-index.js')
  const { interruptible } = await import('../desk/interruptible.js')
  const isDryRun = options.dryRun ?? false
  const { config, catalogue } = session
  const done = await interruptible((signal) =>
    session.withPool((pool) => rebuildIndex({ config, catalogue, pool, log, isDryRun, signal })),
  )
  tell(done, isDryRun, options.json ?? false, session)
}

const tell = ({ types, undecodable }: IndexRebuilt, isDryRun: boolean, json: boolean, session: Session): void => {
  const sum = (of: (each: Comparison) => number): number => types.reduce((total, each) => total + of(each), 0)
  const totals = { entities: sum((t) => t.entities), added: sum((t) => t.added), removed: sum((t) => t.removed) }
  if (json) {
    session.print(JSON.stringify({ ...totals, undecodable, swapped: !isDryRun, types }))
    return
  }
  session.print(toTable(columns, [...types, { type: 'all', ...totals }], session.width))
  if (undecodable > 0) session.note(`${undecodable} messages on the topics are no events of ours, and were left out`)
  session.note(isDryRun ? 'Only compared: the index is as it was.' : 'The new index is in place.')
}

const columns: Column<Comparison>[] = [
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'ENTITIES', cell: ({ entities }) => String(entities) },
  { title: 'ADDED', cell: ({ added }) => String(added) },
  { title: 'REMOVED', cell: ({ removed }) => String(removed) },
]
