import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../random.js'
import { type ProcessName, parts, services } from '../stack/definitions.js'
import type { FaultStack } from '../stack/start-stack.js'

/** Who is killed next, and how long after the one before. */
export type NextKill = { after: number; target: ProcessName }

const shareOfParts = 0.2
const pause = { least: 500, most: 3_500 }
// Of nine. On a busy machine a start takes ten seconds: killed faster than that, the system would only ever be starting.
const mayBeDown = 3

/** One process after the other, anywhere, for ever; soon enough that some die while others, or they themselves, are being started. */
export function* planKilling(random: Random, withParts: boolean): Generator<NextKill> {
  let after = 0
  while (true) {
    const isPart = withParts && random.chance(shareOfParts)
    yield { after, target: random.pick<ProcessName>(isPart ? parts : services) }
    after = random.int(pause.least, pause.most)
  }
}

/**
 * Kills this many times, as fast as the system comes back. One that is not running, because it was killed a moment ago, is passed over
 * and does not count.
 */
export const killMany = async (
  { signals, untilMostReady }: Pick<FaultStack, 'signals' | 'untilMostReady'>,
  plan: Iterable<NextKill>,
  count: number,
  onKill: (target: ProcessName) => void,
): Promise<void> => {
  let killed = 0
  for (const { after, target } of plan) {
    if (killed === count) return
    await wait(after)
    await untilMostReady(mayBeDown)
    if (!signals.send(target, 'SIGKILL')) continue
    killed++
    onKill(target)
  }
}
