import type { Decided } from '#ledger/fence.js'
import type { WaitingCount } from '#ledger/waiting/look-up.js'
import type { WaitChanges } from '#ledger/waiting/waits.js'
import { createBusiest } from '#platform/health/busiest.js'
import { fetchBuckets, latencyBuckets, type Metrics } from '#platform/health/metrics.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import { createLagGauge } from '#platform/kafka/lag-gauge.js'

export type IntegrityFigures = ReturnType<typeof createIntegrityFigures>

export const createIntegrityFigures = (metrics: Metrics) => {
  const lag = createLagGauge(metrics, 'Batches that wait to be decided.', {
    name: 'oldest_undecided_seconds',
    help: 'How long the oldest batch that waits to be decided has waited, of partitions in which one does.',
  })
  const fetched = metrics.histogram('fetch_batches', 'Batches that one fetch of a partition brought.', fetchBuckets)
  const records = metrics.counter('records_total', 'Records decided, by outcome.', ['type', 'outcome'])
  const ofOrgs = metrics.counter(
    'org_records_total',
    'Records decided, by organisation: the busiest ones, and all others.',
    ['org', 'outcome'],
  )
  const orgNameOf = createBusiest()
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
  const waiting = metrics.gauge('waiting_records', 'Records that wait for what they refer to, of all organisations.')
  const oldest = metrics.gauge('waiting_oldest_seconds', 'How long the oldest of them has waited.')
  const behind = metrics.gauge(
    'postgres_behind',
    'Partitions of which more was published than Postgres knows: it went back to an earlier state.',
  )
  const ended = {
    accepted: metrics.counter('waiting_released_total', 'Records that waited and were accepted.', ['type']),
    refused: metrics.counter('waiting_expired_total', 'Records that waited until their time was over.', ['type']),
    superseded: metrics.counter('waiting_superseded_total', 'Records that waited and were replaced by a newer one.', [
      'type',
    ]),
  }
  return {
    /** Tells which partitions of these topics this process has now. */
    assigned: lag.keepOnly,
    fetched: (fetch: Fetch): void => {
      lag.begun(fetch)
      fetched.observe(fetch.messages.length)
    },
    published: (fetch: Fetch, outcomes: readonly Decided[]): void => {
      lag.done(fetch)
      for (const { batch, verdict, isTheOneDecided } of outcomes) {
        batches.inc({ type: verdict.type, kind: isTheOneDecided ? 'decided' : 'repeated' })
        if (!isTheOneDecided) continue
        const counts = {
          accepted: verdict.accepted,
          refused: verdict.refused.length,
          ...(verdict.waiting && { waiting: verdict.waiting.length }),
        }
        const org = orgNameOf(batch.org_id, verdict.accepted + verdict.refused.length + (verdict.waiting?.length ?? 0))
        for (const [outcome, count] of Object.entries(counts)) {
          records.inc({ type: verdict.type, outcome }, count)
          ofOrgs.inc({ org, outcome }, count)
        }
        latency.observe({ type: verdict.type }, (Date.now() - batch.submitted_at) / 1000)
      }
    },
    postgresBehind: (partitions: number): void => behind.set(partitions),
    forgotten: (topic: string, batches: number): void => forgotten.inc({ topic }, batches),
    waited: (changes: WaitChanges): void => {
      for (const { type, state } of changes.ended) ended[state].inc({ type })
      for (const { type, state } of changes.begun) if (state !== 'waiting') ended[state].inc({ type })
    },
    /** How many records wait; undefined where another process counts them. */
    waiting: (count: WaitingCount | undefined): void => {
      waiting.set(count?.waiting ?? 0)
      oldest.set(count?.oldest ? (Date.now() - count.oldest.getTime()) / 1000 : 0)
    },
  }
}

export const createPrunedCount = (metrics: Metrics) =>
  metrics.counter('pruned_total', 'Rows that were too old and are gone.', ['what'])
