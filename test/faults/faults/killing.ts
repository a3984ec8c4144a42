import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from '../random.js'
import { type ProcessName, parts, services } from '../stack/definitions.js'
import type { FaultStack } from '../stack/start-stack.js'

/** Who is killed next, and how long after the one before. */
export type NextKill = { after: number; target: ProcessName }

const shareOfParts = 0.2
// Kafka needs some 5 s to come back, and everything waits for it: killed sooner, the same restart would be tried again and again.
const afterPart = { least: 4_000, most: 7_000 }
const afterService = { least: 500, most: 3_500 }

/** One process after the other, anywhere, for ever; soon enough that some die while others, or they themselves, are being started. */
export function* planKilling(random: Random, withParts: boolean): Generator<NextKill> {
  let after = 0
  while (true) {
    const isPart = withParts && random.chance(shareOfParts)
    yield { after, target: random.pick<ProcessName>(isPart ? parts : services) }
    const pause = isPart ? afterPart : afterService
    after = random.int(pause.least, pause.most)
  }
}

/** Kills this many times. One that is not running, because it was killed a moment ago, is passed over and does not count. */
export const killMany = async (
  { signals }: Pick<FaultStack, 'signals'>,
  plan: Iterable<NextKill>,
  count: number,
  onKill: (target: ProcessName) => void,
): Promise<void> => {
  let killed = 0
  for (const { after, target } of plan) {
    if (killed === count) return
    await wait(after)
    if (!signals.send(target, 'SIGKILL')) continue
    killed++
    onKill(target)
  }
}
