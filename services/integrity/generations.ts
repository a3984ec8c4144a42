import { type Generation, toDecide } from '#ledger/layout/layout.js'
import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import type { Committed } from '#platform/kafka/committed-offsets.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { periodically } from '#platform/process/periodically.js'

// "weir lanes change" gives the submitted log new topics. A record's older writes may lie in the old ones: so the new ones are not
// even read before everything in the old ones is decided and published, by whichever instance.

const usualLookEvery = 1_000

/** Whether everything up to where a generation ends is published, and Postgres knows of it. */
export const isWorkedOff = (
  { ends }: Pick<Generation, 'ends'>,
  committed: readonly Committed[],
  cursors: ReadonlyMap<string, number>,
): boolean => {
  const published = new Map(committed.map((each) => [placeOf(each), each.offset]))
  return Object.entries(ends).every(
    ([place, end]) => (published.get(place) ?? 0) >= end && (cursors.get(place) ?? 0) >= end,
  )
}

/** Decides one generation after another, for as long as the service runs. */
export const followGenerations = async (deps: {
  find: () => Promise<Generation[]>
  committed: (generation: number) => Promise<readonly Committed[]>
  cursors: () => Promise<ReadonlyMap<string, number>>
  /** Notes that everything of a generation is decided and published. */
  finish: (generation: number) => Promise<unknown>
  /** Begins to read the topics of a generation; resolves to what ends that. */
  open: (generation: Generation) => Promise<() => Promise<void>>
  log: Log
  /** Milliseconds between one look at the layout and the next. */
  lookEvery?: number
}) => {
  let all = await deps.find()
  let deciding = toDecide(all)
  if (!deciding) throw new Error('there is no layout')
  let close = await deps.open(deciding)

  const look = async (): Promise<void> => {
    all = await deps.find()
    const now = toDecide(all)
    if (!now || !deciding) return
    if (now.generation === deciding.generation && now.state === 'closed') {
      const committed = await deps.committed(now.generation)
      if (!isWorkedOff(now, committed, await deps.cursors())) return
      await deps.finish(now.generation)
      all = await deps.find()
    }
    const next = toDecide(all)
    if (!next || next.generation === deciding.generation) return
    // The old one has nothing left to read: the new one need not wait until it has left its groups.
    const closeBefore = close
    close = await deps.open(next)
    deps.log.info({ generation: next.generation, lanes: next.lanes }, 'the lanes were changed')
    deciding = next
    await closeBefore()
  }

  const looks = periodically({
    name: 'look at the layout',
    everyMs: deps.lookEvery ?? usualLookEvery,
    work: () => look().catch((error: unknown) => deps.log.debug({ reason: reasonOf(error) }, 'layout not looked at')),
    log: deps.log,
  })
  return {
    /** As they were at the last look. */
    all: (): readonly Generation[] => all,
    close: async (): Promise<void> => {
      await looks.stop()
      await close()
    },
  }
}
