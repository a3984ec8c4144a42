import type { Command } from 'commander'
import { uuidv7 } from 'uuidv7'
import { commandLine } from '#ledger/audit.js'
import { cancelWaits, countWaits } from '#ledger/waiting/look-up.js'
import { canAsk, confirm } from '../command/confirm.js'
import { OperatorError } from '../command/operator-error.js'
import { createProgress } from '../command/progress.js'
import { examplesAnd, type Session } from '../command/session.js'
import { addWaitOptions, readWaitFilter, type WaitWords } from './filter.js'

type Options = WaitWords & { all?: boolean; dryRun?: boolean; yes?: boolean; json?: boolean }

export const addWaitingCancel = (waiting: Command, session: Session): void => {
  addWaitOptions(waiting.command('cancel'))
    .description('end the waiting of records that are no longer needed: they are neither accepted nor refused')
    .option('--all', 'all that wait, of all organisations')
    .option('--dry-run', 'only say how many')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .option('--json', 'one line: cancelled, left (with --dry-run: would_cancel)')
    .addHelpText('after', examplesAnd(about, ...calls))
    .action((options: Options) => cancel(options, session))
}

const calls = [
  'waiting cancel --missing shops/019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b',
  'waiting cancel --record offers/019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b --yes',
  'waiting cancel --org acme --type offers --dry-run',
]
const about = `
A cancelled record is gone for good: it is not among the rejected ones, and only its uploader can send it again. Its request shows
it as "cancelled" from then on. Where you want to keep the record, let its time end: then it is refused, and "rejected retry" can
submit it again. One that is decided at this very moment is decided, and does not count here.`

// Short, so that no lane waits long for the rows that it has to decide.
const atOnce = 1000

const cancel = (options: Options, session: Session): Promise<void> => {
  const filter = readWaitFilter(options, session.catalogue)
  if (Object.values(filter).every((one) => one === undefined) && !options.all)
    throw new OperatorError('say which: --missing, --record, --type, --org or --all')
  return session.withParts(['pool'], async ({ pool }) => {
    const found = await countWaits(pool, filter)
    if (options.dryRun) return session.print(options.json ? JSON.stringify({ would_cancel: found }) : `${found} wait`)
    if (found > 0 && !options.yes) {
      if (!canAsk())
        throw new OperatorError(`${found} records would be cancelled for good: add --yes, or --dry-run to see`)
      if (!(await confirm(`Cancel ${found} for good?`))) return session.note('nothing was cancelled')
    }
    const progress = createProgress('cancelling', found)
    let cancelled = 0
    const by = { ...commandLine, requestId: uuidv7() }
    for (let step = -1; step !== 0; cancelled += step) {
      step = await cancelWaits(pool, filter, atOnce, by)
      progress.advance(step)
    }
    progress.end()
    const left = await countWaits(pool, filter)
    session.print(options.json ? JSON.stringify({ cancelled, left }) : `${cancelled} cancelled`)
    if (left > 0)
      session.note(
        `${left} still wait: they are being decided, or came meanwhile; the same command again cancels what then waits`,
      )
  })
}
