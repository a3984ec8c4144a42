import type { Log } from '#platform/health/log.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Stretch } from '#platform/kafka/read-topics.js'

export type Backlog = ReturnType<typeof createBacklog>

/**
 * What lay in the submitted log when this edge started, and is not decided yet. An edge that has sent nothing would otherwise learn of
 * a lag only by its first batches, after it has taken in many more.
 */
export const createBacklog = (deps: {
  /** The submitted topics, as long as they are; undefined while that cannot be known. */
  stretches: () => Promise<readonly Stretch[] | undefined>
  /** How far each partition is decided, by `topic/partition`. */
  cursors: () => Promise<ReadonlyMap<string, number>>
  now: () => number
  log: Log
}) => {
  const since = deps.now()
  /** Up to where each partition is to be decided; undefined before it was looked. */
  let left: Map<string, number> | undefined
  let isLooking = false

  const look = async (): Promise<void> => {
    left ??= await deps
      .stretches()
      .then(
        (found) =>
          found && new Map(found.filter(({ from, until }) => until > from).map((one) => [placeOf(one), one.until])),
      )
    if (!left || left.size === 0) return
    const cursors = await deps.cursors()
    for (const [place, until] of left) if ((cursors.get(place) ?? 0) >= until) left.delete(place)
  }

  return {
    /** To be called every other second; costs nothing once all is decided. */
    tick: async (): Promise<void> => {
      if (isLooking || left?.size === 0) return
      isLooking = true
      await look().catch((error) => deps.log.debug({ err: error }, 'the backlog could not be looked at'))
      isLooking = false
    },
    /** Milliseconds that a batch of a place has been undecided, as far as this edge can know. */
    lagAt: (place: string): number => (left?.has(place) ? deps.now() - since : 0),
  }
}
