import type { Received } from '#platform/kafka/kafka.js'

/** A message of a topic, where it lies. */
export type TailMessage = Received & { partition: number }

export type Tail = {
  /** Adds messages of one partition, in their order. */
  add: (partition: number, messages: readonly Received[]) => void
  /** The last messages of an organisation that are still kept, oldest first. */
  lastOf: (orgId: string, most: number) => TailMessage[]
  /** Calls back with each message of an organisation that comes from now on; what is returned ends that. */
  listen: (orgId: string, onMessage: (message: TailMessage) => void) => () => void
}

// For a topic that somebody looks at, so much of its end is kept.
const mostMessages = 2_000
const mostBytes = 8 * 1024 * 1024

/** The end of a topic, as it was read: a bounded number of messages of all organisations. */
export const createTail = (bounds = { messages: mostMessages, bytes: mostBytes }): Tail => {
  const kept: TailMessage[] = []
  let first = 0
  let bytes = 0
  const listeners = new Map<string, Set<(message: TailMessage) => void>>()

  const dropOld = (): void => {
    while (kept.length - first > bounds.messages || (bytes > bounds.bytes && kept.length - first > 1)) {
      bytes -= kept[first]?.value.length ?? 0
      first++
    }
    // Not one by one: that would move all the others each time.
    if (first > bounds.messages) first -= kept.splice(0, first).length
  }

  return {
    add: (partition, messages) => {
      for (const one of messages) {
        const message = { ...one, partition }
        kept.push(message)
        bytes += one.value.length
        const orgId = orgOf(one.key)
        for (const listen of listeners.get(orgId) ?? []) listen(message)
      }
      dropOld()
    },
    lastOf: (orgId, most) =>
      kept
        .slice(first)
        .filter(({ key }) => orgOf(key) === orgId)
        // Partitions are read side by side; together they are shown in the order in which they were written.
        .sort((a, b) => a.timestamp - b.timestamp || a.offset - b.offset)
        .slice(-most),
    listen: (orgId, onMessage) => {
      const own = listeners.get(orgId) ?? new Set()
      listeners.set(orgId, own.add(onMessage))
      return () => {
        own.delete(onMessage)
        if (own.size === 0) listeners.delete(orgId)
      }
    },
  }
}

/** Keys are `<org_id>/<id>`, or the organisation alone. */
const orgOf = (key: string | null): string => key?.split('/', 1)[0] ?? ''
