/** What is known of one key of an accepted topic. Versions compare within one key only. */
export type KeyState = {
  /** The version of its last event, and its highest. */
  last: number
  highest: number
  /** The offset at which the highest came first. */
  highestAt: number
  /** The version of its row in ClickHouse. */
  row?: number | undefined
}

/** The keys of each partition, by `topic/partition`. */
export type KeysByPlace = ReadonlyMap<string, Map<string, KeyState>>

/** Notes an event of a key, in the order of the topic. */
export const seeVersion = (states: Map<string, KeyState>, key: string, version: number, offset: number): void => {
  const state = states.get(key)
  if (!state) states.set(key, { last: version, highest: version, highestAt: offset })
  else {
    state.last = version
    if (version <= state.highest) return
    state.highest = version
    state.highestAt = offset
  }
}

/** The newest version of a key whose last event is older than that; undefined where the last event is the newest. */
export const newerThanLast = ({ last, highest, row }: KeyState): number | undefined => {
  // A row in ClickHouse was an event once, perhaps one from before the range.
  const newest = Math.max(highest, row ?? 0)
  return last < newest ? newest : undefined
}

/** The organisation in a key `org/id`. */
export const orgOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')))
export const idOf = (key: string): string => key.slice(key.indexOf('/') + 1)
