import type { Command } from 'commander'
import type { Retry } from '#ledger/retries.js'
import { rejectionName } from '#ledger/retries.js'
import { OperatorError } from '../desk/operator-error.js'
import { examples, type Session } from '../desk/session.js'
import { readId } from './filter.js'
import { isSetAside, type Rejection } from './rejection.js'
import { retriedAsJson } from './retried.js'

type Options = { index?: string; json?: boolean }

// As many as a request can hold; people are shown the first few.
const most = 5000
const mostForPeople = 20

export const addRejectedShow = (rejected: Command, session: Session): void => {
  rejected
    .command('show')
    .description(
      'show all of the refused records of a request or batch: the record, each problem, what a retry brought',
    )
    .argument('<id>', 'a request_id or batch_id, as "rejected list" and every answer show it')
    .option('--index <n>', 'only the record at this index of the request')
    .option('--json', 'one line: an array, each with its record')
    .addHelpText(
      'after',
      examples(
        'rejected show 019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b',
        'rejected show 019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b --index 17 --json',
      ),
    )
    .action((given: string, options: Options) => show(given, options, session))
}

const show = async (given: string, options: Options, session: Session): Promise<void> => {
  const filter = { request: readId(given), ...(options.index !== undefined && { index: readIndex(options.index) }) }
  const [{ withClickHouse }, { findRejections }, { findRetries }] = await Promise.all([
    import('../desk/with-clickhouse.js'),
    import('./find-rejections.js'),
    import('#ledger/retries.js'),
  ])
  const found = await withClickHouse(session.config.CLICKHOUSE_URL, (clickhouse) =>
    findRejections(clickhouse, filter, most),
  )
  if (found.length === 0) {
    throw new OperatorError(
      `nothing of ${given} was refused${options.index === undefined ? '' : ` at index ${options.index}`}, ` +
        'or not yet (ClickHouse is a moment behind): "weir rejected list" shows what was',
    )
  }
  const retries = await session.withPool((pool) => findRetries(pool, found))
  if (options.json) {
    session.print(JSON.stringify(found.map((each) => toJson(each, retries.get(rejectionName(each))))))
    return
  }
  const { toShowText } = await import('./show-text.js')
  const shown = found.slice(0, mostForPeople)
  session.print(shown.map((each) => toShowText(each, retries.get(rejectionName(each)))).join('\n\n'))
  if (found.length > shown.length)
    session.note(`\nand ${found.length - shown.length} more: --index picks one, --json shows them all`)
}

const toJson = (rejection: Rejection, retry: Retry | undefined) => ({
  rejected_at: rejection.rejectedAt,
  org: rejection.org,
  type: rejection.type,
  id: rejection.id,
  request_id: rejection.requestId,
  batch_id: rejection.batchId,
  index: rejection.index,
  problems: rejection.problems,
  truncated: rejection.truncated,
  ...(isSetAside(rejection)
    ? { bytes_base64: rejection.record }
    : { record: rejection.truncated ? rejection.record : JSON.parse(rejection.record) }),
  retried: retriedAsJson(retry),
})

const readIndex = (given: string): number => {
  if (/^\d{1,6}$/.test(given)) return Number(given)
  throw new OperatorError(`"${given}" is not an index: write a whole number, from 0`)
}
