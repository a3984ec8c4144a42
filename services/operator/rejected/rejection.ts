import type { Retry } from '#ledger/retries/claims.js'
import type { Rejection } from '#rejections/find-rejections.js'

/** The codes of a rejection's problems, each once. */
export const codesOf = ({ problems }: Pick<Rejection, 'problems'>): string[] => [
  ...new Set(problems.map(({ code }) => code)),
]

/** A message that could not be decoded: it belongs to no organisation, and is no record. */
export const isSetAside = ({ org }: Pick<Rejection, 'org'>): boolean => org === ''

/** A rejection for machines, with what a retry of it brought; `more` is what only some commands show. */
export const rejectionAsJson = <More>(rejection: Rejection, retry: Retry | undefined, more: More) => ({
  rejected_at: rejection.rejectedAt,
  org: rejection.org,
  type: rejection.type,
  id: rejection.id,
  request_id: rejection.requestId,
  batch_id: rejection.batchId,
  index: rejection.index,
  problems: rejection.problems,
  truncated: rejection.truncated,
  ...more,
  retried: retry
    ? { outcome: retry.outcome, retry_id: retry.retry_id, request_id: retry.request_id, claimed_at: retry.claimed_at }
    : null,
})
