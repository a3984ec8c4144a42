import type { Command } from 'commander'
import { findRetries, type Retry, rejectionName } from '#ledger/retries/claims.js'
import type { Filter } from '#rejections/filter.js'
import { countByCode, findRejections, type Rejection } from '#rejections/find-rejections.js'
import { readCount } from '../command/arguments.js'
import { examplesAnd, type Session } from '../command/session.js'
import { type Column, toDistance, toTableWithIds } from '../command/table.js'
import { addFilterOptions, type FilterOptions, readFilter } from './filter.js'
import { codesOf, rejectionAsJson } from './rejection.js'

type Options = FilterOptions & { limit: string; json?: boolean }

export const addRejectedList = (rejected: Command, session: Session): void => {
  addFilterOptions(rejected.command('list'))
    .description('show refused records, the newest first, and whether they were retried')
    .option('--limit <n>', 'how many at the most', '50')
    .option('--json', 'one line: total, by_code, rejections (an array, with the problems and what a retry brought)')
    .addHelpText('after', examplesAnd(about, ...calls))
    .action((options: Options) => list(options, session))
}

const calls = [
  'rejected list',
  'rejected list --org acme --type offers --since 24h',
  'rejected list --code unknown_reference --since 2026-01-31 --limit 500 --json',
]
const about = `
A record that was retried and refused again is there twice: as "refused again", which is done with, and as a new
rejection, which can be retried once more. Messages that could not be decoded have the code undecodable and no
organisation. Read from ClickHouse, so a moment behind.`

const list = async (options: Options, session: Session): Promise<void> => {
  const filter = readFilter(options, session.catalogue, Date.now())
  const limit = readCount(options.limit, `"${options.limit}" is not a count: write a whole number from 1 to 999999`, 1)
  const { total, byCode, rows } = await findListed(session, filter, limit)
  if (options.json) {
    const rejections = rows.map((row) => rejectionAsJson(row, row.retry, { codes: codesOf(row) }))
    session.print(JSON.stringify({ total, by_code: byCode, rejections }))
    return
  }
  if (total === 0) return session.note('no refused records: nothing matches')
  session.print(toListTable(rows, session.width, new Date()))
  session.print(toSentence(rows.length, total, byCode))
  if (rows.some(({ retry }) => retry?.outcome === 'refused'))
    session.note('What was refused again is listed anew above it: that one can be retried.')
}

/** A rejection, and what a retry of it brought. */
export type Listed = Rejection & { retry: Retry | undefined }

const findListed = (session: Session, filter: Filter, limit: number) =>
  session.withParts(['clickhouse', 'pool'], async ({ clickhouse, pool }) => {
    const found = await findRejections(clickhouse, filter, limit)
    const counts = await countByCode(clickhouse, filter)
    const retries = await findRetries(pool, found)
    return { ...counts, rows: found.map((each): Listed => ({ ...each, retry: retries.get(rejectionName(each)) })) }
  })

const toSentence = (shown: number, total: number, byCode: Record<string, number>): string => {
  const codes = Object.entries(byCode).map(([code, count]) => `${count} ${code}`)
  return `\n${shown < total ? `the newest ${shown} of ${total}` : `${total} in all`}: ${codes.join(', ')}`
}

export const toListTable = (rows: readonly Listed[], width: number, now: Date): string => {
  const facts: Column<Listed>[] = [
    { title: 'WHEN', cell: ({ rejectedAt }) => toDistance(rejectedAt, now) },
    { title: 'ORG', cell: ({ org }) => org || '-' },
    { title: 'TYPE', cell: ({ type }) => type },
    { title: 'CODE', cell: codesInShort },
    { title: 'RETRIED', cell: ({ retry }) => retriedInWords(retry) },
  ]
  const ids: Column<Listed>[] = [
    { title: 'ID', cell: ({ id }) => shorten(id ?? '-', 48) },
    { title: 'REQUEST', cell: ({ requestId, batchId, org }) => (org === '' ? batchId : requestId) },
  ]
  return toTableWithIds(facts, ids, rows, width)
}

const codesInShort = (row: Listed): string => {
  const [first = '-', ...others] = codesOf(row)
  return others.length === 0 ? first : `${first} +${others.length}`
}

const shorten = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const retriedInWords = (retry: Retry | undefined): string => {
  if (!retry) return 'no'
  return retry.outcome === 'refused' ? 'refused again' : (retry.outcome ?? 'unfinished')
}
