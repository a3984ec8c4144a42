/** What is known of one key of an accepted topic. Versions compare within one key only. */
export type KeyState = {
  /** The version of its last event, and its highest. */
  last: number
  highest: number
  /** Where on the topic the highest came first. */
  highestAt: number
  /** The version of its row in ClickHouse. */
  row?: number
}

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

/** The organisation in a key `org/id`. */
export const orgOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')))
export const idOf = (key: string): string => key.slice(key.indexOf('/') + 1)
