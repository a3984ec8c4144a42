import type { Decided } from '#ledger/fence.js'
import { latencyBuckets, type Metrics } from '#platform/health/metrics.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import { createLagGauge, type LagGauge } from '#platform/kafka/lag-gauge.js'

export type IntegrityFigures = {
  /** Tells which partitions of these topics this process has now. */
  assigned: LagGauge['keepOnly']
  fetched: (fetch: Fetch) => void
  published: (fetch: Fetch, outcomes: readonly Decided[]) => void
  forgotten: (topic: string, batches: number) => void
}

export const createIntegrityFigures = (metrics: Metrics): IntegrityFigures => {
  const lag = createLagGauge(metrics, 'Batches that wait to be decided.')
  const records = metrics.counter('records_total', 'Records decided, by outcome.', ['type', 'outcome'])
  const batches = metrics.counter('batches_total', 'Batches published: decided, or published again.', ['type', 'kind'])
  const forgotten = metrics.counter(
    'forgotten_total',
    'Batches that came again after their verdict was pruned, and were passed over.',
    ['topic'],
  )
  const latency = metrics.histogram(
    'verdict_latency_seconds',
    'From the submission of a batch to the publication of its verdict.',
    latencyBuckets,
    ['type'],
  )
  return {
    assigned: lag.keepOnly,
    fetched: ({ topic, partition, highWatermark, messages }) =>
      lag.set({ topic, partition }, highWatermark - (messages[0]?.offset ?? highWatermark)),
    published: ({ topic, partition, highWatermark, messages }, outcomes) => {
      lag.set({ topic, partition }, highWatermark - 1 - (messages.at(-1)?.offset ?? highWatermark - 1))
      for (const { batch, verdict, isTheOneDecided } of outcomes) {
        batches.inc({ type: verdict.type, kind: isTheOneDecided ? 'decided' : 'repeated' })
        if (!isTheOneDecided) continue
        records.inc({ type: verdict.type, outcome: 'accepted' }, verdict.accepted)
        records.inc({ type: verdict.type, outcome: 'refused' }, verdict.refused.length)
        latency.observe({ type: verdict.type }, (Date.now() - batch.submitted_at) / 1000)
      }
    },
    forgotten: (topic, batches) => forgotten.inc({ topic }, batches),
  }
}
