import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { createSinkFigures } from '../../../services/sink/figures.js'

const fetch = {
  topic: 'weir.rejected',
  partition: 1,
  messages: [5, 6, 7].map((offset) => ({ offset, timestamp: 0, key: null, value: Buffer.alloc(0) })),
  next: 8,
  highWatermark: 10,
  holdsPartition: () => true,
}

it('shows how many events of a partition wait, before and after a fetch was written', async () => {
  const metrics = createMetrics('sink')
  const figures = createSinkFigures(metrics)
  const lag = async () => /^weir_sink_consumer_lag\{.*\} (\d+)$/m.exec(await metrics.text())?.[1]
  figures.fetched(fetch)
  expect(await lag()).toBe('5')
  figures.written(fetch)
  expect(await lag()).toBe('2')
  const text = await metrics.text()
  expect(text).toContain('weir_sink_fetch_events_sum 3\n')
  expect(text).toContain('weir_sink_write_delay_seconds_count 1\n')
})
