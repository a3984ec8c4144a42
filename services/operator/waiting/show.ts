import type { Command } from 'commander'
import { countWaits, findWaits, findWaitsOfRecord, type Wait, type WaitFilter } from '#ledger/waiting/look-up.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { readCount } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examplesAnd, type Session } from '../command/session.js'
import { toDistance } from '../command/table.js'
import { addWaitOptions, readWaitFilter, type WaitWords } from './filter.js'

type Options = WaitWords & { limit: string; json?: boolean }

export const addWaitingShow = (waiting: Command, session: Session): void => {
  addWaitOptions(waiting.command('show'))
    .description('show records that wait: all behind one missing record, or one of them and what became of it')
    .option('--limit <n>', 'how many at the most, those first that came first', '20')
    .option('--json', 'one line: total, waiting (an array)')
    .addHelpText('after', examplesAnd(about, ...calls))
    .action((options: Options) => show(options, session))
}

const calls = [
  'waiting show --missing shops/019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b',
  'waiting show --record offers/019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b',
  'waiting show --org acme --type offers --limit 1000 --json',
]
const about = `
With --record, those of that id are shown too whose waiting has ended, for as long as verdicts are kept:
  accepted     what was missing came
  refused      its time was up: "rejected list" shows it, and "rejected retry" submits it again
  superseded   a newer record of its id was sent, and took its place
  cancelled    somebody ended it: "waiting cancel", or its uploader`

const show = async (options: Options, session: Session): Promise<void> => {
  const filter = readWaitFilter(options, session.catalogue)
  const limit = readCount(options.limit, `"${options.limit}" is not a count: write a whole number from 1 to 999999`, 1)
  const { total, rows } = await session.withParts(['pool'], ({ pool }) => find(pool, filter, limit))
  if (options.json) return session.print(JSON.stringify({ total, waiting: rows.map(waitAsJson) }))
  if (rows.length === 0) {
    throw new OperatorError(
      filter.id === undefined
        ? 'no such record waits: "weir waiting list" shows what is waited for'
        : `${filter.type}/${filter.id} does not wait and has not waited, as far as that is kept: "weir waiting list" shows what is waited for`,
    )
  }
  session.print(rows.map((row) => toWaitText(row, new Date())).join('\n\n'))
  if (total > rows.length) session.note(`\nand ${total - rows.length} more: --limit ${total} shows them all`)
}

/** What is meant; of a single record also what became of it. */
const find = async (pool: Pool, filter: WaitFilter, limit: number): Promise<{ total: number; rows: Wait[] }> => {
  const { type, id, missing } = filter
  if (type !== undefined && id !== undefined && missing === undefined) {
    const rows = await findWaitsOfRecord(pool, { ...filter, type, id }, limit)
    return { total: rows.length, rows }
  }
  return { total: await countWaits(pool, filter), rows: await findWaits(pool, filter, { limit }) }
}

const waitAsJson = (wait: Wait) => ({
  org_id: wait.orgId,
  type: wait.type,
  id: wait.id,
  state: wait.state,
  missing: wait.missing,
  since: wait.since,
  until: wait.until,
  changed_at: wait.changedAt,
  request_id: wait.requestId,
  batch_id: wait.batchId,
  index: wait.index,
})

/** Everything about one record that waits or waited, for people. */
export const toWaitText = (wait: Wait, now: Date): string => {
  const { type, id, orgId, state, since, until, changedAt, missing } = wait
  const at = (moment: Date) => `${moment.toISOString()} (${toDistance(moment, now)})`
  return [
    `${type}/${id} of ${orgId}`,
    `  ${state === 'waiting' ? 'waits' : 'waited'} since ${at(since)}`,
    state === 'waiting' ? `  refused at ${at(until)}, if still missing` : `  ${state} at ${at(changedAt)}`,
    `  from records[${wait.index}] of request ${wait.requestId}, batch ${wait.batchId}`,
    `  ${state === 'waiting' ? 'waits' : 'waited last'} for`,
    ...missing.map((each) => `    ${each.type}/${each.id} (${each.field})`),
  ].join('\n')
}
