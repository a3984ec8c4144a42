import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { onStopSignal } from '../../../../deploy/embedded/launcher/stop-signals.js'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const before = new Map(signals.map((signal) => [signal, process.listeners(signal)]))
const calls: string[] = []

beforeEach(() => {
  vi.useFakeTimers()
  calls.length = 0
  onStopSignal({ stop: () => calls.push('stop'), hurry: () => calls.push('hurry') })
})

afterEach(() => {
  vi.useRealTimers()
  for (const signal of signals)
    for (const listener of process.listeners(signal))
      if (!before.get(signal)?.includes(listener)) process.off(signal, listener)
})

it('takes the Ctrl-C of the terminal and that of npm for one', () => {
  process.emit('SIGINT')
  vi.advanceTimersByTime(200)
  process.emit('SIGINT')
  expect(calls).toEqual(['stop'])
})

it('hurries at a second Ctrl-C, which comes twice as well', () => {
  process.emit('SIGINT')
  vi.advanceTimersByTime(600)
  process.emit('SIGINT')
  process.emit('SIGINT')
  expect(calls).toEqual(['stop', 'hurry'])
})
