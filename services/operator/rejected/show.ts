import type { Command } from 'commander'
import { findRetries, type Retry, rejectionName } from '#ledger/retries/claims.js'
import { findRejections, type Rejection } from '#rejections/find-rejections.js'
import { asJson, writeJson } from '#schemas/json-text.js'
import { readCount } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, type Session } from '../command/session.js'
import { readId } from './filter.js'
import { isSetAside, rejectionAsJson } from './rejection.js'

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
  const { index } = options
  const problem = `"${index}" is not an index: write a whole number, from 0`
  const filter = { request: readId(given), ...(index !== undefined && { index: readCount(index, problem) }) }
  const rows = await session.withParts(['clickhouse', 'pool'], async ({ clickhouse, pool }) => {
    const found = await findRejections(clickhouse, filter, most)
    const retries = await findRetries(pool, found)
    return found.map((rejection) => ({ rejection, retry: retries.get(rejectionName(rejection)) }))
  })
  if (rows.length === 0) {
    throw new OperatorError(
      `nothing of ${given} was refused${index === undefined ? '' : ` at index ${index}`}, ` +
        'or not yet (ClickHouse is a moment behind): "weir rejected list" shows what was',
    )
  }
  if (options.json) {
    const written = rows.map(({ rejection, retry }) => rejectionAsJson(rejection, retry, recordAsJson(rejection)))
    session.print(writeJson(written))
    return
  }
  const shown = rows.slice(0, mostForPeople)
  session.print(shown.map(({ rejection, retry }) => toShowText(rejection, retry)).join('\n\n'))
  if (rows.length > shown.length)
    session.note(`\nand ${rows.length - shown.length} more: --index picks one, --json shows them all`)
}

const recordAsJson = ({ org, record, truncated }: Rejection) =>
  isSetAside({ org }) ? { bytes_base64: record } : { record: truncated ? record : asJson(record) }

/** Everything about one refused record, for people. */
export const toShowText = (rejection: Rejection, retry: Retry | undefined): string =>
  [
    isSetAside(rejection)
      ? `a message at ${rejection.id} that could not be decoded`
      : `${rejection.type} ${rejection.id ?? 'without an id'} of ${rejection.org}`,
    `  refused   ${rejection.rejectedAt.toISOString()}`,
    `  from      ${
      isSetAside(rejection)
        ? `topic/partition/offset ${rejection.id}; kept as batch ${rejection.batchId}`
        : `records[${rejection.index}] of request ${rejection.requestId}, batch ${rejection.batchId}`
    }`,
    `  retried   ${retriedInFull(retry)}`,
    '  problems',
    ...rejection.problems.map(
      ({ field, code, message }) => `    ${code}${field === null ? '' : ` in ${field}`}: ${message}`,
    ),
    ...(isSetAside(rejection) ? bytesOf(rejection) : recordOf(rejection)),
  ].join('\n')

const retriedInFull = (retry: Retry | undefined): string => {
  if (!retry) return 'no'
  if (retry.outcome === null)
    return `since ${retry.claimed_at.toISOString()}, unfinished: an edge is at it, or the next retry finishes it`
  const where = `on ${retry.answered_at?.toISOString()} in request ${retry.request_id}`
  return retry.outcome === 'accepted'
    ? `accepted ${where}`
    : `refused again ${where}: "rejected list" shows the new rejection, which can be retried`
}

const recordOf = ({ record, truncated }: Rejection): string[] =>
  truncated ? ['  record, cut off', indent(record)] : ['  record', indent(pretty(record))]

/** Indented; as it was sent where that would lose something, like a number that no double holds. */
const pretty = (record: string): string => {
  const parsed: unknown = JSON.parse(record)
  return JSON.stringify(parsed) === record.replace(blanks, '$1') ? JSON.stringify(parsed, null, 2) : record
}

// Blanks outside of strings.
const blanks = /("(?:[^"\\]|\\.)*")|\s+/g

const bytesOf = ({ record, truncated }: Rejection): string[] => {
  const bytes = Buffer.from(record, 'base64')
  const text = utf8Of(bytes)
  return [
    `  ${bytes.length} bytes${truncated ? ', the rest was cut off' : ''}`,
    hexOf(bytes.subarray(0, mostShown)),
    ...(bytes.length > mostShown ? [`    … and ${bytes.length - mostShown} more: --json has them all, in base64`] : []),
    ...(text === undefined ? [] : ['  as UTF-8', indent(text)]),
  ]
}

const mostShown = 512

/** In each line an offset, sixteen bytes in hexadecimal, and the same bytes as text. */
const hexOf = (bytes: Buffer): string =>
  Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) => {
    const row = bytes.subarray(line * 16, line * 16 + 16)
    const hex = [...row].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const text = [...row].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
    return `    ${(line * 16).toString(16).padStart(4, '0')}  ${hex.padEnd(47)}  ${text}`
  }).join('\n')

// A terminal obeys control characters: a message with some of them is shown as bytes only.
const utf8Of = (bytes: Buffer): string | undefined => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, mostShown))
    return /^[\P{Cc}\n\t]*$/u.test(text) ? text : undefined
  } catch {
    return undefined
  }
}

const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')
