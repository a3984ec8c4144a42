import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { OperatorError } from '../desk/operator-error.js'
import { createProgress } from '../desk/progress.js'
import { examples, type Session } from '../desk/session.js'
import { type Filter, type FilterOptions, readFilter } from './filter.js'
import { addFilterOptions } from './filter-options.js'
import type { Prospect } from './prospect.js'
import type { Sent } from './send-again.js'
import { nextSteps, toProspectText, toSummary } from './summary.js'

type Options = FilterOptions & {
  all?: boolean
  evenSuperseded?: boolean
  dryRun?: boolean
  json?: boolean
  yes?: boolean
}

const nothing: Sent = { accepted: 0, refused: 0, gone: 0 }

export const addRejectedRetry = (rejected: Command, session: Session): void => {
  addFilterOptions(rejected.command('retry'))
    .description('submit refused records again, after the reason is gone, as their organisation would')
    .option('--all', 'all there are')
    .option('--even-superseded', 'also those whose id was accepted later: they overwrite what is newer')
    .option('--dry-run', 'only say what would be sent')
    .option('--json', 'one line: accepted, refused, superseded, cannot_be_retried, already_retried, resumed, dry_run')
    .option('--yes', 'do not ask; it is asked on a terminal only')
    .addHelpText(
      'after',
      examples(
        'rejected retry --code unknown_reference --since 24h',
        'rejected retry --request 019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b --dry-run',
        'rejected retry --org acme --type offers --yes --json',
      ),
    )
    .addHelpText(
      'after',
      `
Each rejection is sent once: it is claimed in Postgres before, and its outcome is kept after. A run that was killed is
finished by the next one, with the same Idempotency-Key. What is refused again is a new rejection, which can be retried.
The command issues itself a key for each organisation, for these types and some minutes, and revokes it at the end.

Exit code: 0 when all that was sent was accepted, 2 when some was refused again, 1 when it could not be done.

Environment:
  EDGE_URL   where the edge is (default: that of the system that runs, or http://127.0.0.1:8080)`,
    )
    .action((options: Options) => run(options, session))
}

const run = async (options: Options, session: Session): Promise<void> => {
  const filter = readFilter(options, session.catalogue, Date.now())
  if (Object.keys(filter).length === 0 && !options.all)
    throw new OperatorError('say which: --request, --code, --since or --all')
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    await retry(filter, options, session, stopping.signal)
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    session.note('\nweir: stopped; what was under way is finished by the next "weir rejected retry"')
    process.exitCode = 130
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}

const retry = async (filter: Filter, options: Options, session: Session, signal: AbortSignal): Promise<void> => {
  const [{ withClickHouse }, { createEdge }, { prospectOf, sendAgain }, { alone }] = await Promise.all([
    import('../desk/with-clickhouse.js'),
    import('./edge.js'),
    import('./prospect.js'),
    import('../desk/alone.js'),
  ])
  const { config, catalogue, note } = session
  const choice = { evenSuperseded: Boolean(options.evenSuperseded), dryRun: Boolean(options.dryRun) }
  const edge = createEdge({ url: config.EDGE_URL, signal, note })

  await withClickHouse(config.CLICKHOUSE_URL, (clickhouse) =>
    session.withPool((pool) => {
      const parts = { pool, clickhouse, catalogue }
      const work = async () => {
        const prospect = await prospectOf(parts, filter, choice)
        if (choice.dryRun || prospect.records === 0) return report(prospect, nothing, options, session)
        note(toProspectText(prospect))
        if (!(await isWanted(prospect, options, signal))) return note('nothing was sent')
        await edge.check()
        const progress = createProgress('retrying', prospect.records)
        const sent = await sendAgain({ ...parts, edge }, prospect, (_, { wanted }) => progress.advance(wanted.length))
        progress.end()
        report(prospect, sent, options, session)
      }
      // Looking hurts nobody, so a dry run does not wait for another run.
      return choice.dryRun ? work() : alone(pool, 'rejected retry', work)
    }),
  )
}

const isWanted = async ({ records }: Prospect, options: Options, signal: AbortSignal): Promise<boolean> => {
  if (options.yes || !process.stdin.isTTY || !process.stderr.isTTY) return true
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await asking.question(`Send ${records} again? [y/N] `, { signal })).trim())
  } finally {
    asking.close()
  }
}

const report = (prospect: Prospect, sent: Sent, options: Options, session: Session): void => {
  if (options.json) session.print(JSON.stringify(toSummary(prospect, sent, Boolean(options.dryRun))))
  else if (options.dryRun) session.print(toProspectText(prospect))
  else {
    const { accepted, refused } = sent
    session.print(
      `${accepted} accepted, ${refused} refused again, ${prospect.superseded} superseded, ` +
        `${prospect.cannotBeRetried + sent.gone} cannot be retried`,
    )
    for (const step of nextSteps(prospect, sent)) session.note(step)
  }
  if (sent.refused > 0) process.exitCode = 2
}
