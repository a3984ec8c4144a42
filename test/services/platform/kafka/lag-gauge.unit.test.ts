import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { createLagGauge } from '#platform/kafka/lag-gauge.js'

const oldest = { name: 'oldest_seconds', help: 'The oldest.' }
const fetchOf = (place: { topic: string; partition: number }, lag: number) => ({
  ...place,
  highWatermark: 100,
  messages: [
    { offset: 100 - lag, timestamp: 5_000 },
    { offset: 101 - lag, timestamp: 6_000 },
  ],
})

it('shows for how long the oldest message has waited, and nothing where none waits', async () => {
  const metrics = createMetrics('test')
  const lag = createLagGauge(metrics, 'Messages that wait.', oldest, () => 9_000)
  const shown = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('weir_test_oldest_seconds{'))
  const place = { topic: 'shops', partition: 3 }
  lag.begun(fetchOf(place, 10))
  expect(await shown()).toEqual(['weir_test_oldest_seconds{topic="shops",partition="3"} 4'])
  lag.done(fetchOf(place, 10))
  expect(await shown(), 'what is left came after the last one').toEqual([
    'weir_test_oldest_seconds{topic="shops",partition="3"} 3',
  ])
  lag.done(fetchOf(place, 2))
  expect(await shown()).toEqual([])
  lag.begun(fetchOf(place, 10))
  lag.keepOnly(['shops'], [])
  expect(await shown()).toEqual([])
})

it('shows no partition that moved to another process, and keeps those of other topics', async () => {
  const metrics = createMetrics('test')
  const lag = createLagGauge(metrics, 'Messages that wait.', oldest)
  for (const partition of [0, 1]) lag.begun(fetchOf({ topic: 'shops', partition }, 10 + partition))
  lag.begun(fetchOf({ topic: 'interactions', partition: 0 }, 5))
  const shown = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('weir_test_consumer_lag{'))
  expect(await shown()).toHaveLength(3)
  lag.keepOnly(['shops'], [{ topic: 'shops', partition: 1 }])
  expect(await shown()).toEqual([
    'weir_test_consumer_lag{topic="shops",partition="1"} 11',
    'weir_test_consumer_lag{topic="interactions",partition="0"} 5',
  ])
  lag.begun(fetchOf({ topic: 'shops', partition: 0 }, 3))
  expect(await shown()).toContain('weir_test_consumer_lag{topic="shops",partition="0"} 3')
})
