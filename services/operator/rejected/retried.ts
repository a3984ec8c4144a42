import type { Retry } from '#ledger/retries.js'

/** Whether a rejection was submitted again, in a word or two. */
export const retriedInWords = (retry: Retry | undefined): string => {
  if (!retry) return 'no'
  switch (retry.outcome) {
    case 'accepted':
      return 'accepted'
    case 'refused':
      return 'refused again'
    case null:
      return 'unfinished'
    default:
      return retry.outcome satisfies never
  }
}

/** The same for machines. */
export const retriedAsJson = (retry: Retry | undefined) =>
  retry
    ? { outcome: retry.outcome, retry_id: retry.retry_id, request_id: retry.request_id, claimed_at: retry.claimed_at }
    : null
