import { freshnessBuckets, type Metrics } from '#platform/health/metrics.js'

export type DeliveryFigures = ReturnType<typeof createDeliveryFigures>

export const createDeliveryFigures = (metrics: Metrics) => {
  const attempts = metrics.counter('attempts_total', 'Attempts to deliver something to a webhook.', [
    'event',
    'outcome',
  ])
  const seconds = metrics.histogram('attempt_seconds', 'Time of one attempt.', [0.05, 0.1, 0.5, 1, 5, 15], ['outcome'])
  const delay = metrics.histogram(
    'delay_seconds',
    'From putting a delivery together to its receipt, retries included.',
    freshnessBuckets,
    ['event'],
  )
  const webhooks = metrics.gauge(
    'webhooks',
    'Webhooks, by state: enabled, those of them whose last attempt failed (failing), and disabled.',
    ['state'],
  )
  const pending = metrics.gauge('pending', 'Deliveries to enabled webhooks that have not been received.')
  const oldest = metrics.gauge('oldest_pending_seconds', 'How long the oldest of these has waited.')
  const underWay = metrics.gauge('under_way', 'Queues of webhooks that are worked on at this moment.')
  return {
    attempted: (event: string, isDelivered: boolean, took: number): void => {
      const outcome = isDelivered ? 'delivered' : 'failed'
      attempts.inc({ event, outcome })
      seconds.observe({ outcome }, took)
    },
    delivered: (event: string, ms: number): void => delay.observe({ event }, Math.max(0, ms) / 1000),
    seen: (found: {
      webhooks: Readonly<Record<string, number>>
      pending: number
      oldest: number
      underWay: number
    }): void => {
      for (const [state, count] of Object.entries(found.webhooks)) webhooks.set({ state }, count)
      pending.set(found.pending)
      oldest.set(found.oldest)
      underWay.set(found.underWay)
    },
  }
}
