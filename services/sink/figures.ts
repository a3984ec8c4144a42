import type { Metrics } from '#platform/health/metrics.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import { createLagGauge } from '#platform/kafka/lag-gauge.js'

export type SinkFigures = ReturnType<typeof createSinkFigures>

export const createSinkFigures = (metrics: Metrics) => {
  const lag = createLagGauge(metrics, 'Events that wait to be written.')
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
    fetched: ({ topic, partition, highWatermark, messages }: Fetch) =>
      lag.set({ topic, partition }, highWatermark - (messages[0]?.offset ?? highWatermark)),
    written: ({ topic, partition, highWatermark, messages }: Fetch) =>
      lag.set({ topic, partition }, highWatermark - 1 - (messages.at(-1)?.offset ?? highWatermark - 1)),
    failed: (topic: string) => failures.inc({ topic }),
    inserted: (table: string, rowCount: number, byteCount: number, took: number): void => {
      rows.observe({ table }, rowCount)
      bytes.inc({ table }, byteCount)
      seconds.observe({ table }, took)
    },
  }
}
