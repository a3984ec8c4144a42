import type { Command } from 'commander'
import { findGenerations } from '#ledger/layout/layout.js'
import {
  beginNewIndex,
  type Comparison,
  compareIndexes,
  dropNewIndex,
  swapIndex,
} from '#ledger/mending/rebuilt-entities.js'
import { uncheckWaits } from '#ledger/waiting/upkeep.js'
import type { WaitPlace } from '#ledger/waiting/waits.js'
import type { Log } from '#platform/health/log.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { typeOfSubmitted } from '#schemas/derive/names.js'
import { alone } from '../command/alone.js'
import { interruptible, OperatorError } from '../command/operator-error.js'
import type { Parts } from '../command/servers.js'
import { examplesAnd, type Session } from '../command/session.js'
import { type Column, toTable } from '../command/table.js'
import { persist } from '../command/until.js'
import { interrupted } from './rebuild-analytics.js'

type Options = { dryRun?: boolean; json?: boolean }
type IndexRebuilt = { types: Comparison[]; undecodable: number }

export const addRebuildIndex = (rebuild: Command, session: Session): void => {
  rebuild
    .command('index')
    .description('make the entity index (what records may refer to) anew from the accepted topics, services running')
    .option('--dry-run', 'only compare: make a new index, tell how the present one differs, and throw it away')
    .option('--json', 'one line of JSON: entities, added, removed, undecodable, swapped, types[]')
    .addHelpText('after', examplesAnd(about, 'rebuild index --dry-run', 'rebuild index'))
    .action((options: Options) => run(options, session))
}

const about = `
Uploads go on meanwhile, and none is refused for it. Integrity has to run, or at
least to have published all that it decided. ADDED is what the topics hold and
the present index lacks: records that refer to it were refused, or wait and are
decided now. REMOVED is what the present index holds and no topic knows of.`

const run = async (options: Options, session: Session): Promise<void> => {
  const isDryRun = options.dryRun ?? false
  const { catalogue, log } = session
  const done = await interruptible(interrupted, (signal) =>
    session.withParts(['pool', 'kafka', 'registry'], (parts) =>
      alone(parts.pool, 'rebuild index', () => rebuildIndex({ ...parts, catalogue, log, isDryRun, signal })),
    ),
  )
  report(done, isDryRun, options.json ?? false, session)
}

/**
 * A new entity index, swapped in while integrity decides. What was decided before the new table was there lies below the
 * cursors of that moment, and is read from the topics; what is decided later a trigger copies into it.
 */
const rebuildIndex = async (
  deps: Omit<Parts, 'clickhouse'> & { catalogue: Catalogue; log: Log; isDryRun: boolean; signal: AbortSignal },
): Promise<IndexRebuilt> => {
  const { catalogue, pool, kafka, signal } = deps
  // Loaded only here, with the Avro library: every other command starts sooner.
  const { fillIndex, waitUntilPublished } = await import('./fill-index.js')
  const { id, cursors } = await inShortTransaction(pool, beginNewIndex)
  try {
    const ofEntities = cursors.filter(({ topic }) => catalogue.referenced.has(typeOfSubmitted(topic)))
    await waitUntilPublished(kafka, ofEntities, await findGenerations(pool), signal)
    const { undecodable } = await fillIndex(deps)
    const types = await compareIndexes(pool)
    signal.throwIfAborted()
    if (deps.isDryRun) await inShortTransaction(pool, dropNewIndex)
    else if (!(await inShortTransaction(pool, (connection) => swapIndex(connection, id))))
      throw new OperatorError('another rebuild has begun meanwhile: nothing was changed')
    if (!deps.isDryRun) await lookAgain(pool)
    return { types, undecodable }
  } catch (error) {
    // Should this fail too, the next rebuild cleans up; the first failure is the one that the operator has to know.
    await inShortTransaction(pool, dropNewIndex).catch((left) => deps.log.error({ err: left }, 'not cleaned up'))
    throw error
  }
}

/**
 * What waits is looked at once more, since it may be in the new index now. Not in the transaction that swaps the tables, which
 * would stop all decisions. Where it is cut off, records wait longer than they need to, and none is decided wrongly.
 */
const lookAgain = async (pool: Pool): Promise<void> => {
  let after: WaitPlace | undefined
  do after = await inShortTransaction(pool, (connection) => uncheckWaits(connection, after, 1000))
  while (after)
}

const lockNotAvailable = '55P03'
const deadlock = '40P01'

/** A transaction that gives up a lock it cannot get soon: while it waited, everybody behind it would wait too. */
export const inShortTransaction = <T>(pool: Pool, work: (connection: Connection) => Promise<T>): Promise<T> => {
  const isLocked = (error: unknown): boolean =>
    [lockNotAvailable, deadlock].includes((error as { code?: string }).code ?? '')
  const attempt = () =>
    inTransaction(pool, async (connection) => {
      await connection.query(`set local lock_timeout = '2s'`)
      return work(connection)
    })
  return persist(attempt, isLocked, { every: 500, tries: 20 }).catch((error: unknown) => {
    if (!isLocked(error)) throw error
    throw new OperatorError(
      'Postgres does not give out the lock on integrity.cursors or integrity.entities: ' +
        'look in pg_stat_activity for a transaction that stands still, end it, then try again',
    )
  })
}

const report = ({ types, undecodable }: IndexRebuilt, isDryRun: boolean, json: boolean, session: Session): void => {
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
