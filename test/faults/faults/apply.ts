import { setTimeout as wait } from 'node:timers/promises'
import type { FaultStack } from '../stack/start-stack.js'
import { describe, type Fault } from './plan.js'

/** Lets these faults happen, each at its moment, and resolves when the last one is over. */
export const applyFaults = async (stack: FaultStack, faults: readonly Fault[], say: (line: string) => void) => {
  await Promise.all(
    faults.map(async (fault) => {
      await wait(fault.at)
      say(describe(fault))
      await begin(stack, fault)
      await wait(fault.lasts)
      await end(stack, fault)
    }),
  )
}

const begin = async ({ signals, links, stopSignalOf }: FaultStack, fault: Fault): Promise<unknown> => {
  switch (fault.kind) {
    case 'kill':
      return signals.send(fault.target, 'SIGKILL')
    case 'restart':
      return signals.send(fault.target, stopSignalOf(fault.target))
    case 'pause':
      return signals.sendToAll(fault.target, 'SIGSTOP')
    case 'cut':
      return links[fault.target].cut()
    case 'freeze':
      return links[fault.target].freeze()
    case 'lose':
      return links[fault.target].lose()
    case 'delay':
      return links[fault.target].slowDown(fault.delay)
  }
}

const end = async ({ signals, links }: FaultStack, fault: Fault): Promise<unknown> => {
  switch (fault.kind) {
    case 'kill':
    case 'restart':
    case 'lose':
      return undefined
    case 'pause':
      return signals.sendToAll(fault.target, 'SIGCONT')
    case 'cut':
      return links[fault.target].mend()
    case 'freeze':
      return links[fault.target].thaw()
    case 'delay':
      return links[fault.target].slowDown(0)
  }
}
