import type { Retry } from '#ledger/retries.js'
import { isSetAside, type Rejection } from './rejection.js'

/** Everything about one refused record, for people. */
export const toShowText = (rejection: Rejection, retry: Retry | undefined): string =>
  [
    isSetAside(rejection)
      ? `a message at ${rejection.id} that nobody could read`
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
  if (retry.outcome === null) return `since ${retry.claimed_at.toISOString()}, unfinished: the next retry finishes it`
  const where = `on ${retry.answered_at?.toISOString()} in request ${retry.request_id}`
  return retry.outcome === 'accepted'
    ? `accepted ${where}`
    : `refused again ${where}: "rejected list" shows the new rejection, which can be retried`
}

const recordOf = ({ record, truncated }: Rejection): string[] =>
  truncated ? ['  record, cut off', indent(record)] : ['  record', indent(pretty(record))]

const pretty = (record: string): string => JSON.stringify(JSON.parse(record), null, 2)

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

/** Offset, sixteen bytes, and what of them can be read, in a line. */
const hexOf = (bytes: Buffer): string =>
  Array.from({ length: Math.ceil(bytes.length / 16) }, (_, line) => {
    const row = bytes.subarray(line * 16, line * 16 + 16)
    const hex = [...row].map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const text = [...row].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
    return `    ${(line * 16).toString(16).padStart(4, '0')}  ${hex.padEnd(47)}  ${text}`
  }).join('\n')

// A terminal obeys control characters: what holds some is shown as bytes alone.
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
