import type { Command } from 'commander'
import { type Counts, rejectionsBefore, retriesBefore } from '#ledger/retention.js'
import type { Log } from '#platform/health/log.js'
import { rejectedTopic } from '#schemas/derive/names.js'
import { retentionOf } from '#schemas/derive/topics.js'
import { readDuration } from '../desk/duration.js'
import { OperatorError } from '../desk/operator-error.js'
import { createProgress } from '../desk/progress.js'
import { examples, type Session } from '../desk/session.js'

type Options = { verdicts?: string; rejections?: string; dryRun?: boolean; json?: boolean }
type Pruned = Counts & { rejections: number }

const hour = 3_600_000
const day = 24 * hour

export const addPrune = (program: Command, session: Session, log: Log): void => {
  const { VERDICT_RETENTION_HOURS: hours, REJECTION_RETENTION_DAYS: days } = session.config
  program
    .command('prune')
    .description('forget old verdicts and rejections now, as the services do by the hour')
    .option('--verdicts <age>', `verdicts and keyed interactions last used longer ago than this (default: ${hours}h)`)
    .option('--rejections <age>', `rejections of whole days (UTC) longer ago than this (default: ${days}d)`)
    .option('--dry-run', 'only say how much would go')
    .option('--json', 'one line: verdicts, keyed_interactions, rejections, retries, dry_run')
    .addHelpText('after', examples('prune --dry-run', 'prune', 'prune --rejections 30d', 'prune --verdicts 24h --json'))
    .addHelpText(
      'after',
      `
With one of the two options only that is pruned, with neither both. A verdict stays until it was told. After that an
Idempotency-Key counts as new, and GET /v1/requests/{request_id} answers 404.`,
    )
    .action((options: Options) => run(options, session, log))
}

const run = async (options: Options, session: Session, log: Log): Promise<void> => {
  const before = readCutoffs(options, session, Date.now())
  const { createPruning } = await import('./pruning.js')
  const pruned = await createPruning(session, log, async (pruning) => {
    const found = await pruning.count(before)
    if (options.dryRun) return found
    const progress = createProgress(
      'pruning',
      Object.values(found).reduce((sum, count) => sum + count, 0),
    )
    const gone = await pruning.prune(before, progress.advance)
    progress.end()
    return gone
  })
  report(pruned, options, session)
}

/** Moments before which things go; what is not asked for stays. */
const readCutoffs = (options: Options, { config, catalogue }: Session, now: number) => {
  const isBoth = options.verdicts === undefined && options.rejections === undefined
  const verdicts = options.verdicts ?? (isBoth ? `${config.VERDICT_RETENTION_HOURS}h` : undefined)
  const days = options.rejections ?? (isBoth ? `${config.REJECTION_RETENTION_DAYS}d` : undefined)
  const rejections =
    days === undefined
      ? undefined
      : rejectionsBefore(now, { REJECTION_RETENTION_DAYS: readAge('--rejections', days) / day })
  return {
    verdicts: verdicts === undefined ? undefined : new Date(now - readAge('--verdicts', verdicts)),
    rejections,
    retries: rejections && retriesBefore(rejections, now, retentionOf(catalogue, rejectedTopic)),
  }
}

// An Idempotency-Key is promised to work for a day, and who was refused today may still look for it.
const readAge = (option: string, given: string): number => {
  const age = readDuration(given)
  if (age >= day) return age
  throw new OperatorError(`${option} ${given}: what is younger than 24h is always kept`)
}

const report = (pruned: Pruned, options: Options, session: Session): void => {
  const { verdicts, keyed_interactions, rejections, retries } = pruned
  if (options.json) {
    session.print(JSON.stringify({ ...pruned, dry_run: Boolean(options.dryRun) }))
    return
  }
  session.print(
    `${options.dryRun ? 'would prune' : 'pruned'} ${verdicts} verdicts, ${keyed_interactions} keyed interactions, ` +
      `${rejections} rejections, ${retries} retries`,
  )
}
