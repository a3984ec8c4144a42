import { latencyBuckets, type Metrics } from '#platform/health/metrics.js'
import type { BatchResult } from './batches/outcome.js'

export type EdgeFigures = ReturnType<typeof createFigures>

/** What the edge counts. */
export const createFigures = (metrics: Metrics) => {
  const records = metrics.counter('records_total', 'records by what became of them', ['type', 'outcome'])
  return {
    requests: metrics.counter('requests_total', 'requests answered', ['route', 'method', 'status']),
    duration: metrics.histogram('request_seconds', 'time to answer a request', latencyBuckets, ['route', 'method']),
    verdictWait: metrics.histogram(
      'verdict_wait_seconds',
      'time from submitting a batch to its verdict',
      latencyBuckets,
      ['type'],
    ),
    bytesInFlight: metrics.gauge('bytes_in_flight', 'bytes of bodies that were let in and not answered yet'),
    shed: metrics.counter('shed_total', 'requests refused because too much was in flight', ['reason']),
    rateLimited: metrics.counter('rate_limited_total', 'requests refused because their key sent too much', ['limit']),
    batchesInFlight: metrics.gauge('batches_in_flight', 'batches whose verdict is waited for'),
    gathered: metrics.histogram(
      'gathered_interactions',
      'interactions that share one event',
      [1, 2, 5, 10, 20, 50, 100, 200, 500],
    ),
    oldestUndecided: metrics.gauge(
      'oldest_undecided_seconds',
      'how long the oldest batch that this edge sent has been without a verdict, its request answered or not',
    ),
    certificateExpires: metrics.gauge(
      'certificate_expires_timestamp_seconds',
      "when the edge's own TLS certificate ends, in seconds since 1970; 0 where it has none",
    ),
    /** What Postgres and ClickHouse know and no service counts: asked once a minute, by each edge. */
    system: {
      keysEnding: metrics.gauge(
        'keys_ending',
        'active keys that were used in the last 30 days and end within 7 days, of all organisations',
      ),
      used: metrics.gauge('storage_used_bytes', 'bytes that the data takes in Postgres or ClickHouse', ['part']),
      free: metrics.gauge('storage_free_bytes', 'bytes that are free on the disks of ClickHouse', ['part']),
      size: metrics.gauge('storage_size_bytes', 'bytes that the disks of ClickHouse have, used or free', ['part']),
      verifiedAt: metrics.gauge(
        'verified_timestamp_seconds',
        'when weir verify last compared everything, in seconds since 1970; 0 where it never did',
      ),
      differences: metrics.gauge('verify_differences', 'differences that weir verify found then, and did not mend'),
      erasuresFailed: metrics.gauge(
        'erasures_failed',
        'erasures that did not end within a day and are not done yet, of all organisations; without dry runs',
      ),
    },
    peerUp: metrics.gauge('peer_up', 'whether a peer gave its metrics', ['peer']),

    /** `count` is how many records the batch carries. */
    countRecords: (type: string, outcome: BatchResult['outcome'] | 'dry_run', count: number): void => {
      if (typeof outcome === 'string') records.inc({ type, outcome }, count)
      else if ('unknown' in outcome) records.inc({ type, outcome: 'unknown' }, count)
      else {
        records.inc({ type, outcome: 'accepted' }, outcome.verdict.accepted)
        records.inc({ type, outcome: 'refused' }, outcome.verdict.refused.length)
        const waiting = outcome.verdict.waiting?.length ?? 0
        if (waiting > 0) records.inc({ type, outcome: 'waiting' }, waiting)
      }
    },
  }
}
