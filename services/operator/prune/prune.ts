import type { Command } from 'commander'
import { findGenerations } from '#ledger/layout/layout.js'
import { publishedOffsets } from '#ledger/layout/published.js'
import * as retention from '#ledger/retention.js'
import { timeOf } from '#platform/postgres/rows.js'
import { rejectedTopic } from '#schemas/derive/names.js'
import { retentionOf } from '#schemas/derive/topics.js'
import { createClickHouseDestination } from '#tables/clickhouse-destination.js'
import type { ExpiredRows } from '#tables/destination.js'
import { readDuration } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { createProgress } from '../command/progress.js'
import { examplesAnd, type Session } from '../command/session.js'

type Options = { verdicts?: string; rejections?: string; history?: string; dryRun?: boolean; json?: boolean }
type Pruned = retention.PrunedCounts & ExpiredRows
type Before = retention.Cutoffs & { rejections: Date | undefined; history: Date | undefined }

const hour = 3_600_000
const day = 24 * hour

export const addPrune = (program: Command, session: Session): void => {
  const { VERDICT_RETENTION_HOURS: hours, REJECTION_RETENTION_DAYS: days, HISTORY_DAYS: history } = session.config
  program
    .command('prune')
    .description('forget old verdicts, rejections, waits, versions and audit rows now, as the services do by the hour')
    .option(
      '--verdicts <age>',
      `verdicts, waits and keyed interactions last used longer ago than this (default: ${hours}h)`,
    )
    .option(
      '--rejections <age>',
      `rejections and ended waits of whole days (UTC) in ClickHouse, longer ago (default: ${days}d)`,
    )
    .option(
      '--history <age>',
      `versions of records that were replaced longer ago than this (default: ${history === undefined ? 'none go' : `${history}d`})`,
    )
    .option('--dry-run', 'only say how much would go')
    .option(
      '--json',
      'one line: verdicts, waits, keyed_interactions, keyed_requests, rejections, waiting_rows, retries, versions, audit, dry_run',
    )
    .addHelpText(
      'after',
      examplesAnd(about, 'prune --dry-run', 'prune', 'prune --rejections 30d', 'prune --verdicts 24h --json'),
    )
    .action((options: Options) => run(options, session))
}

const about = `
With one of the three options only that is pruned, with none of them all. A verdict stays until it was published, and one on
interactions for no longer than a day; one with a record that still waits, until that has ended. Once it is pruned its Idempotency-Key counts as new, and GET /v1/requests/{request_id} answers 404. A replaced version leaves the type's history (weir.shops_history), the
current one never does.`

const run = async (options: Options, session: Session): Promise<void> => {
  // What is wrong with the options is said before anything is connected.
  readCutoffs(options, session, 0)
  const pruned = await session.withParts(['pool', 'kafka', 'clickhouse'], async ({ pool, kafka, clickhouse }) => {
    const { rejections, history, ...before } = readCutoffs(options, session, await timeOf(pool))
    const generations = await findGenerations(pool)
    const committed = () => publishedOffsets(kafka, session.catalogue, generations)
    const destination = createClickHouseDestination({ catalogue: session.catalogue, clickhouse })
    const found: Pruned = {
      ...(await destination.countExpired({ rejections, history })),
      ...(await retention.createRetention({ pool, committed }).count(before)),
    }
    if (options.dryRun) return found
    const total = Object.values(found).reduce((sum, count) => sum + count, 0)
    const progress = createProgress('pruning', total)
    const onStep = (_: string, count: number): void => progress.advance(count)
    // The same code as in the services, which prune by the hour.
    const gone: Pruned = {
      ...(await retention.createRetention({ pool, committed, onStep }).prune(before)),
      ...(await destination.prune({ rejections, history }, { onRows: progress.advance })),
    }
    progress.end()
    return gone
  })
  report(pruned, options, session)
}

/** The moments before which things are pruned; undefined for what was not asked for. */
const readCutoffs = (options: Options, { config, catalogue }: Session, now: number): Before => {
  const isAll = options.verdicts === undefined && options.rejections === undefined && options.history === undefined
  const verdicts = options.verdicts ?? (isAll ? `${config.VERDICT_RETENTION_HOURS}h` : undefined)
  const days = options.rejections ?? (isAll ? `${config.REJECTION_RETENTION_DAYS}d` : undefined)
  const age = days === undefined ? undefined : readAge('--rejections', days)
  const rejections =
    age === undefined ? undefined : retention.rejectionsBefore(now, { REJECTION_RETENTION_DAYS: age / day })
  const lastUsed = verdicts === undefined ? undefined : new Date(now - readAge('--verdicts', verdicts))
  const configured = isAll ? config.HISTORY_DAYS : undefined
  const historyDays = options.history === undefined ? configured : readAge('--history', options.history) / day
  return {
    verdicts: lastUsed,
    interactionVerdicts: lastUsed && retention.interactionVerdictsBefore(now, lastUsed),
    rejections,
    history: retention.historyBefore(now, { HISTORY_DAYS: historyDays }),
    audit: isAll ? retention.auditBefore(now, config) : undefined,
    retries: rejections && retention.retriesBefore(rejections, now, retentionOf(catalogue, rejectedTopic)),
  }
}

// An Idempotency-Key is promised to work for a day, and an uploader may still look for what was refused today.
const readAge = (option: string, given: string): number => {
  const age = readDuration(given)
  if (age >= day) return age
  throw new OperatorError(`${option} ${given}: what is younger than 24h is always kept`)
}

const report = (pruned: Pruned, options: Options, session: Session): void => {
  const { verdicts, waits, keyed_interactions, keyed_requests, rejections, waiting_rows, retries, versions, audit } =
    pruned
  const text =
    `${options.dryRun ? 'would prune' : 'pruned'} ${verdicts} verdicts, ${waits} ended waits, ${keyed_interactions} keyed interactions, ` +
    `${keyed_requests} of their request ids, ${rejections} rejections, ${waiting_rows} rows of waits, ${retries} retries, ` +
    `${versions} replaced versions, ${audit} rows of the audit`
  session.print(options.json ? JSON.stringify({ ...pruned, dry_run: Boolean(options.dryRun) }) : text)
}
