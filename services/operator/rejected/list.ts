import type { Command } from 'commander'
import { rejectionName } from '#ledger/retries.js'
import { OperatorError } from '../desk/operator-error.js'
import { examples, type Session } from '../desk/session.js'
import { type FilterOptions, readFilter } from './filter.js'
import { addFilterOptions } from './filter-options.js'
import type { Listed } from './list-table.js'
import { codesOf } from './rejection.js'
import { retriedAsJson } from './retried.js'

type Options = FilterOptions & { limit: string; json?: boolean }

export const addRejectedList = (rejected: Command, session: Session): void => {
  addFilterOptions(rejected.command('list'))
    .description('show refused records, the newest first, and whether they were retried')
    .option('--limit <n>', 'how many at the most', '50')
    .option('--json', 'one line: total, by_code, rejections (an array, with the problems and what a retry brought)')
    .addHelpText(
      'after',
      examples(
        'rejected list',
        'rejected list --org acme --type offers --since 24h',
        'rejected list --code unknown_reference --since 2026-01-31 --limit 500 --json',
      ),
    )
    .addHelpText(
      'after',
      `
A record that was retried and refused again is there twice: as "refused again", which is done with, and as a new
rejection, which can be retried once more. Messages that nobody could read have the code undecodable and no
organisation. Read from ClickHouse, so a moment behind.`,
    )
    .action((options: Options) => list(options, session))
}

const list = async (options: Options, session: Session): Promise<void> => {
  const filter = readFilter(options, session.catalogue, Date.now())
  const limit = readCount(options.limit)
  const { total, byCode, rows } = await findListed(session, filter, limit)
  if (options.json) {
    session.print(JSON.stringify({ total, by_code: byCode, rejections: rows.map(toJson) }))
    return
  }
  if (total === 0) return session.note('no refused records: nothing matches')
  const { toListTable } = await import('./list-table.js')
  session.print(toListTable(rows, session.width, new Date()))
  session.print(toSentence(rows.length, total, byCode))
  if (rows.some(({ retry }) => retry?.outcome === 'refused'))
    session.note('What was refused again is listed anew above it: that one can be retried.')
}

const findListed = async (session: Session, filter: ReturnType<typeof readFilter>, limit: number) => {
  const [{ withClickHouse }, { findRejections }, { countByCode }, { findRetries }] = await Promise.all([
    import('../desk/with-clickhouse.js'),
    import('./find-rejections.js'),
    import('./count-rejections.js'),
    import('#ledger/retries.js'),
  ])
  const { found, counts } = await withClickHouse(session.config.CLICKHOUSE_URL, async (clickhouse) => ({
    found: await findRejections(clickhouse, filter, limit),
    counts: await countByCode(clickhouse, filter),
  }))
  const retries = await session.withPool((pool) => findRetries(pool, found))
  return { ...counts, rows: found.map((each): Listed => ({ ...each, retry: retries.get(rejectionName(each)) })) }
}

const toSentence = (shown: number, total: number, byCode: Record<string, number>): string => {
  const codes = Object.entries(byCode).map(([code, count]) => `${count} ${code}`)
  return `\n${shown < total ? `the newest ${shown} of ${total}` : `${total} in all`}: ${codes.join(', ')}`
}

const toJson = (row: Listed) => ({
  rejected_at: row.rejectedAt,
  org: row.org,
  type: row.type,
  id: row.id,
  request_id: row.requestId,
  batch_id: row.batchId,
  index: row.index,
  codes: codesOf(row),
  problems: row.problems,
  truncated: row.truncated,
  retried: retriedAsJson(row.retry),
})

const readCount = (given: string): number => {
  if (/^\d{1,6}$/.test(given) && Number(given) > 0) return Number(given)
  throw new OperatorError(`"${given}" is not a count: write a whole number from 1 to 999999`)
}
