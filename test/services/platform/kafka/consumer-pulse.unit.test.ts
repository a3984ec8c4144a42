import { EventEmitter } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { watchPulse } from '#platform/kafka/consumer-pulse.js'

const hour = 3_600_000
afterEach(() => void vi.useRealTimers())

/** A consumer that has just been heard of, on a machine whose time of day can be set. */
const openPulse = (
  isThere = async () => true,
  toFake: ('Date' | 'setInterval' | 'clearInterval' | 'performance')[] = [],
) => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval', ...toFake] })
  const consumer = new EventEmitter()
  const crashes: Error[] = []
  const pulse = watchPulse(consumer as unknown as Parameters<typeof watchPulse>[0], {
    groupId: 'group',
    sessionTimeout: 10_000,
    isThere,
    crash: (error) => crashes.push(error),
  })
  consumer.emit('consumer.group_join')
  return { consumer, crashes, pulse }
}

it.each([
  ['ahead', hour],
  ['back', -hour],
])('does not take a clock that is set %s for silence', (_, step) => {
  const { crashes, pulse } = openPulse()
  vi.setSystemTime(Date.now() + step)
  vi.advanceTimersByTime(20_000)
  expect(crashes).toEqual([])
  expect(() => pulse.check()).not.toThrow()
  pulse.stop()
})

it('does not rely on its partitions while the clock says that a session is over, until it is heard of again', () => {
  const { consumer, pulse } = openPulse()
  expect(pulse.isHeld()).toBe(true)
  vi.setSystemTime(Date.now() + hour)
  expect(pulse.isHeld()).toBe(false)
  consumer.emit('consumer.heartbeat')
  expect(pulse.isHeld()).toBe(true)
  pulse.stop()
})

it('holds nothing before it has joined its group', () => {
  const pulse = watchPulse(new EventEmitter() as unknown as Parameters<typeof watchPulse>[0], {
    groupId: 'group',
    sessionTimeout: 10_000,
    isThere: async () => true,
    crash: () => {},
  })
  expect(pulse.isHeld()).toBe(false)
  pulse.stop()
})

it('ends a process that hears nothing only once Kafka answers others for a while', async () => {
  let isUp = false
  const { consumer, crashes, pulse } = openPulse(async () => isUp, ['performance'])
  await vi.advanceTimersByTimeAsync(600_000)
  expect(crashes).toEqual([])
  isUp = true
  await vi.advanceTimersByTimeAsync(25_000)
  consumer.emit('consumer.fetch')
  await vi.advanceTimersByTimeAsync(80_000)
  expect(crashes).toEqual([])
  await vi.advanceTimersByTimeAsync(25_000)
  expect(crashes[0]?.message).toContain('has heard nothing for a minute, and Kafka answers')
  pulse.stop()
})

it('asks again for each stretch in which Kafka answers', async () => {
  let isUp = true
  const { crashes, pulse } = openPulse(async () => {
    if (!isUp) throw new Error('no answer within 5 s')
    return true
  }, ['performance'])
  await vi.advanceTimersByTimeAsync(80_000)
  isUp = false
  await vi.advanceTimersByTimeAsync(20_000)
  isUp = true
  await vi.advanceTimersByTimeAsync(25_000)
  expect(crashes).toEqual([])
  pulse.stop()
})
