import type { Random } from '../random.js'
import { type PartName, type ProcessName, parts, services } from '../stack/definitions.js'

/** Something bad that happens to one process, or to the way to one part, from a moment on, for a while. */
export type Fault = { at: number; lasts: number } & (
  | { kind: 'kill' | 'restart' | 'pause'; target: ProcessName }
  | { kind: 'cut' | 'freeze' | 'lose'; target: PartName }
  | { kind: 'delay'; target: PartName; delay: number }
)

// Longer than a consumer's session, so that others take over what a paused one had.
const pause = { least: 11_000, most: 14_000 }
const everybody: readonly ProcessName[] = [...services, ...parts]

/** Faults of every kind, anywhere, one soon after the other, so that some overlap. */
export const planChaos = (random: Random, count = random.int(6, 9)): Fault[] => {
  const free = new Map<ProcessName, number>()
  let at = 0
  return Array.from({ length: count }, () => {
    at += random.int(200, 4_000)
    const fault = anyFault(random)
    // Not two at once on one target: the end of the first would be the end of the second.
    const begins = Math.max(at, free.get(fault.target) ?? 0)
    free.set(fault.target, begins + fault.lasts + 500)
    return { ...fault, at: begins }
  })
}

/** Everything killed, each at least once, in any order, some of them together. */
export const planKills = (random: Random): Fault[] => {
  let at = 0
  return random.shuffled(everybody).map((target) => {
    at += random.pick([0, 300, 1_500, 4_000])
    return { at, lasts: 0, kind: 'kill', target }
  })
}

export const describe = (fault: Fault): string =>
  `${(fault.at / 1000).toFixed(1)} s: ${fault.kind} ${fault.target}${fault.lasts > 0 ? ` for ${(fault.lasts / 1000).toFixed(1)} s` : ''}${
    fault.kind === 'delay' ? ` by ${fault.delay} ms` : ''
  }`

/** Whether a consumer may have lost its partitions and not know it: then an old event may follow a newer one. */
export const mayOutliveSession = ({ kind, target }: Fault): boolean =>
  kind === 'pause'
    ? target.startsWith('integrity') || target === 'kafka'
    : target === 'kafka' && (kind === 'freeze' || kind === 'delay' || kind === 'lose')

const anyFault = (random: Random): Fault => {
  const at = 0
  const kind = random.pick(['kill', 'kill', 'restart', 'pause', 'cut', 'delay', 'freeze', 'lose'] as const)
  switch (kind) {
    case 'kill':
    case 'restart':
      return { at, lasts: 0, kind, target: random.pick(everybody) }
    case 'pause':
      return { at, lasts: random.int(pause.least, pause.most), kind, target: random.pick(everybody) }
    case 'cut':
      return { at, lasts: random.int(300, 6_000), kind, target: random.pick(parts) }
    case 'lose':
      return { at, lasts: 0, kind, target: random.pick(parts) }
    case 'freeze':
      return { at, lasts: random.int(2_000, 12_000), kind, target: random.pick(parts) }
    case 'delay':
      return { at, lasts: random.int(3_000, 8_000), kind, target: random.pick(parts), delay: random.int(100, 2_500) }
  }
}
