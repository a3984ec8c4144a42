import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { createLagGauge } from '#platform/kafka/lag-gauge.js'

it('shows no partition that moved to another process, and keeps those of other topics', async () => {
  const metrics = createMetrics('test')
  const lag = createLagGauge(metrics, 'Messages that wait.')
  for (const partition of [0, 1]) lag.set({ topic: 'shops', partition }, 10 + partition)
  lag.set({ topic: 'interactions', partition: 0 }, 5)
  const shown = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('weir_test_consumer_lag{'))
  expect(await shown()).toHaveLength(3)
  lag.keepOnly(['shops'], [{ topic: 'shops', partition: 1 }])
  expect(await shown()).toEqual([
    'weir_test_consumer_lag{topic="shops",partition="1"} 11',
    'weir_test_consumer_lag{topic="interactions",partition="0"} 5',
  ])
  lag.set({ topic: 'shops', partition: 0 }, 3)
  expect(await shown()).toContain('weir_test_consumer_lag{topic="shops",partition="0"} 3')
})
