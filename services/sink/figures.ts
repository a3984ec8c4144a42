import { fetchBuckets, freshnessBuckets, type Metrics } from '#platform/health/metrics.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import { createLagGauge } from '#platform/kafka/lag-gauge.js'

export type SinkFigures = ReturnType<typeof createSinkFigures>

export const createSinkFigures = (metrics: Metrics) => {
  const lag = createLagGauge(metrics, 'Events that wait to be written.', {
    name: 'oldest_unwritten_seconds',
    help: 'How long the oldest event that waits to be written has waited, of partitions in which one does.',
  })
  const fetched = metrics.histogram('fetch_events', 'Events that one fetch of a partition brought.', fetchBuckets)
  const delay = metrics.histogram(
    'write_delay_seconds',
    'From the publication of an event to its row in ClickHouse: the oldest event of each fetch.',
    freshnessBuckets,
  )
  const failures = metrics.counter('insert_failures_total', 'Inserts that failed and were tried again.', ['topic'])
  const rows = metrics.histogram(
    'insert_rows',
    'Rows in one insert.',
    [1, 10, 100, 1000, 5000, 20_000, 100_000],
    ['table'],
  )
  const bytes = metrics.counter('insert_bytes_total', 'Bytes inserted, as Avro.', ['table'])
  const seconds = metrics.histogram(
    'insert_seconds',
    'Time of one insert.',
    [0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    ['table'],
  )
  return {
    /** Tells which partitions of these topics this process has now. */
    assigned: lag.keepOnly,
    fetched: (fetch: Fetch): void => {
      lag.begun(fetch)
      fetched.observe(fetch.messages.length)
    },
    written: (fetch: Fetch): void => {
      lag.done(fetch)
      const [oldest] = fetch.messages
      if (oldest) delay.observe(Math.max(0, Date.now() - oldest.timestamp) / 1000)
    },
    failed: (topic: string) => failures.inc({ topic }),
    inserted: (table: string, rowCount: number, byteCount: number, took: number): void => {
      rows.observe({ table }, rowCount)
      bytes.inc({ table }, byteCount)
      seconds.observe({ table }, took)
    },
  }
}

export const createMartSeconds = (metrics: Metrics) =>
  metrics.histogram(
    'mart_seconds',
    'Time that it took to make the rows of a mart anew for a large organisation.',
    [0.1, 0.5, 1, 5, 10, 30, 60, 300],
    ['mart'],
  )

export const createPrunedCount = (metrics: Metrics) =>
  metrics.counter('pruned_total', 'Rejections, records that waited and old versions that are gone.')
