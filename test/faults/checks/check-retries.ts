import type { Check, Finding } from './finding.js'

/** Of the orders for the same refused records one submits all of them, once, in one request; the others submit nothing. */
export const checkRetries: Check = ({ retries }) =>
  retries.flatMap(({ org, requestId, records, expected, orders }): Finding[] => {
    const sum = (what: 'submitted' | 'accepted' | 'refused' | 'given_up'): number =>
      orders.reduce((total, order) => total + order[what], 0)
    const requests = new Set(orders.flatMap((order) => order.requests).map(({ request_id }) => request_id))
    const isRight =
      orders.every(({ status, submitted }) => status === 'done' && (submitted === 0 || submitted === records)) &&
      sum('submitted') === records &&
      sum(expected === 'accepted' ? 'accepted' : 'refused') === records &&
      sum('given_up') === 0 &&
      requests.size === 1
    return isRight
      ? []
      : [{ name: 'retried-wrongly', about: `${org}, ${records} records of ${requestId}: ${JSON.stringify(orders)}` }]
  })
