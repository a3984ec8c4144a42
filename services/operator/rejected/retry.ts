import type { Command } from 'commander'
import type { Filter } from '#rejections/filter.js'
import { alone } from '../command/alone.js'
import { addressOf, askOnce, type Part } from '../command/ask-servers.js'
import { canAsk, confirm } from '../command/confirm.js'
import { interruptible, OperatorError } from '../command/operator-error.js'
import { createProgress } from '../command/progress.js'
import { requireAddresses } from '../command/servers.js'
import { examplesAnd, type Session } from '../command/session.js'
import { addFilterOptions, type FilterOptions, readFilter } from './filter.js'
import { orderRetries, type Sent } from './order-retries.js'
import { type Prospect, prospectOf } from './prospect.js'

type Options = FilterOptions & Partial<Record<'all' | 'evenSuperseded' | 'dryRun' | 'json' | 'yes', boolean>>

export const addRejectedRetry = (rejected: Command, session: Session): void => {
  addFilterOptions(rejected.command('retry'))
    .description('submit refused records again, after the reason is gone, as their organisation would')
    .option('--all', 'all there are')
    .option('--even-superseded', 'also those whose id was accepted later: they overwrite what is newer')
    .option('--dry-run', 'only say what would be sent')
    .option('--json', 'one line: accepted, refused, superseded, cannot_be_retried, already_retried, resumed, dry_run')
    .option('--yes', 'do not ask; it is asked on a terminal only')
    .addHelpText('after', examplesAnd(about, ...calls))
    .action((options: Options) => run(options, session))
}

const calls = [
  'rejected retry --code unknown_reference --since 24h',
  'rejected retry --request 019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b --dry-run',
  'rejected retry --org acme --type offers --yes --json',
]
const about = `
Each rejection is sent once: it is ordered in Postgres before, and its outcome is kept after. The edge sends what was ordered, as for
POST /v1/rejections/retry: after a run that was killed too, and the next run says what came of it. What is refused again is a new
rejection, which can be retried.

Exit code: 0 when all that was sent was accepted, 2 when some was refused again, 1 when it could not be done.

Environment:
  EDGE_URL   where the edge is (default: that of the system that runs here)`

const stopped =
  'stopped; the edge goes on with what was ordered, and the rest is finished by the next "weir rejected retry"'

const run = async (options: Options, session: Session): Promise<void> => {
  const filter = readFilter(options, session.catalogue, Date.now())
  if (Object.keys(filter).length === 0 && !options.all)
    throw new OperatorError('say which: --request, --code, --since or --all')
  await interruptible(stopped, async (signal) => {
    try {
      await retry(filter, options, session, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      session.note(`\nweir: ${stopped}`)
      session.endWith(130)
    }
  })
}

const nothingSent: Sent = { accepted: 0, refused: 0, givenUp: 0, gone: 0 }
// As long as an edge may take to answer an upload.
const answerWithin = 90_000

const retry = (filter: Filter, options: Options, session: Session, signal: AbortSignal): Promise<void> =>
  session.withParts(['clickhouse', 'pool'], ({ clickhouse, pool }) => {
    const { config, catalogue, note } = session
    const sources = { pool, clickhouse, catalogue }
    const choice = { evenSuperseded: Boolean(options.evenSuperseded), dryRun: Boolean(options.dryRun) }
    const work = async () => {
      const prospect = await prospectOf(sources, filter, choice)
      if (choice.dryRun || prospect.records === 0) return report(prospect, nothingSent, options, session)
      note(toProspectText(prospect))
      if (!(await isWanted(prospect, options, signal))) return note('nothing was sent')
      requireAddresses(config, ['EDGE_URL'])
      const edge = edgeAt(config.EDGE_URL, signal)
      const away = await askOnce(edge, answerWithin)
      signal.throwIfAborted()
      if (away !== undefined) throw new OperatorError(away)
      const progress = createProgress('retrying', prospect.records)
      const sent = await orderRetries({ pool, edge, signal, note, onDone: progress.advance }, prospect, {
        ...choice,
        replaceEachOther: (type) => catalogue.uploads.has(type),
      })
      progress.end()
      report(prospect, sent, options, session)
    }
    // A dry run changes nothing, so it does not have to be alone.
    return choice.dryRun ? work() : alone(pool, 'rejected retry', work)
  })

const edgeAt = (url: string, signal: AbortSignal): Part => ({
  name: 'the edge',
  address: addressOf(url),
  variable: 'EDGE_URL',
  check: () => fetch(new URL('/healthz', url), { signal }).then((answer) => answer.arrayBuffer()),
})

const isWanted = async ({ records }: Prospect, options: Options, signal: AbortSignal): Promise<boolean> =>
  options.yes || !canAsk() || (await confirm(`Send ${records} again?`, signal))

const report = (prospect: Prospect, sent: Sent, options: Options, session: Session): void => {
  if (options.json) session.print(JSON.stringify(toSummary(prospect, sent, Boolean(options.dryRun))))
  else if (options.dryRun) session.print(toProspectText(prospect))
  else {
    const { accepted, refused, superseded, cannot_be_retried } = { ...sent, ...leftOut(prospect, sent) }
    session.print(
      `${accepted} accepted, ${refused} refused again, ${superseded} superseded, ${cannot_be_retried} cannot be retried`,
    )
    for (const step of nextSteps(prospect, sent, options)) session.note(step)
  }
  if (sent.refused > 0) session.endWith(2)
}

/** What was not sent: found out when it was planned, or by the edge. */
const leftOut = (prospect: Prospect, sent: Sent) => ({
  superseded: prospect.superseded + sent.givenUp,
  cannot_be_retried: prospect.cannotBeRetried + sent.gone,
})

/** What a run did, or would do, for machines. */
const toSummary = (prospect: Prospect, sent: Sent, dryRun: boolean) => ({
  ...(dryRun ? { would_send: prospect.records } : { accepted: sent.accepted, refused: sent.refused }),
  ...leftOut(prospect, sent),
  already_retried: prospect.alreadyRetried,
  resumed: prospect.resumed,
  dry_run: dryRun,
})

/** What would be sent, organisation by organisation. */
const toProspectText = (prospect: Prospect): string => {
  const counts = new Map<string, number>()
  for (const { org, type, wanted } of [...prospect.unfinished, ...prospect.jobs]) {
    const name = `${type} of ${org}`
    counts.set(name, (counts.get(name) ?? 0) + wanted.length)
  }
  return [
    `to send again: ${counts.size === 0 ? 'nothing' : [...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`,
    ...(prospect.resumed > 0 ? [`of these, ${prospect.resumed} finish an earlier run`] : []),
    `left out: ${prospect.superseded} superseded, ${prospect.cannotBeRetried} that cannot be retried, ` +
      `${prospect.alreadyRetried} retried before`,
  ].join('\n')
}

/** What an operator may want to do now. */
const nextSteps = (prospect: Prospect, sent: Sent, { evenSuperseded }: Options): string[] => {
  const { superseded, cannot_be_retried } = leftOut(prospect, sent)
  const steps: [boolean, string][] = [
    [sent.refused > 0, refusedNext],
    [superseded > 0, evenSuperseded ? overwrittenNext : supersededNext],
    [cannot_be_retried > 0, cannotNext],
    [
      prospect.records === 0,
      `Nothing was sent: ${prospect.alreadyRetried} were retried before. "weir rejected list" shows what there is.`,
    ],
  ]
  return steps.flatMap(([isDue, step]) => (isDue ? [step] : []))
}

const refusedNext =
  'Refused again: "weir rejected list --since 10m" says why; they are new rejections, which can be retried.'
const supersededNext = 'Superseded: a later record of the same id was accepted; --even-superseded overwrites it.'
const cannotNext =
  'Cannot be retried: too large to be kept whole, unreadable, or gone; their uploader has to send them again.'

const overwrittenNext =
  'Superseded in spite of --even-superseded: gone by now, or left out by an edge of an older version, after whose upgrade this can be run again.'
