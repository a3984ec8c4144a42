import { hasValue, type Received, type Valued } from '#platform/kafka/kafka.js'

/** A message of a topic, where it lies. */
export type TailMessage = Received & { partition: number }

/** One that says something; the others say that the record of their key is gone. */
export type TailEvent = Valued & { partition: number }

export type Tail = ReturnType<typeof createTail>

// For a topic that somebody looks at, so much of its end is kept: of each organisation, and of all of them.
const usual = { ofOne: 100, bytes: 8 * 1024 * 1024 }

type Own = { messages: TailMessage[]; bytes: number }

/** The end of a topic: the last messages of each organisation. Where they become too much, those with the most lose some. */
export const createTail = (bounds = usual) => {
  const kept = new Map<string, Own>()
  let bytes = 0
  const listeners = new Map<string, Set<(message: TailMessage) => void>>()

  const drop = (orgId: string, own: Own, count: number): void => {
    for (const message of own.messages.splice(0, count)) {
      own.bytes -= sizeOf(message)
      bytes -= sizeOf(message)
    }
    if (own.messages.length === 0) kept.delete(orgId)
  }

  const keep = (orgId: string, message: TailMessage): void => {
    const own = kept.get(orgId) ?? { messages: [], bytes: 0 }
    kept.set(orgId, own)
    own.messages.push(message)
    own.bytes += sizeOf(message)
    bytes += sizeOf(message)
    if (own.messages.length > bounds.ofOne) drop(orgId, own, 1)
    if (bytes > bounds.bytes) makeRoom()
  }

  // More than is needed now, so that all are not looked through again with the next message: with 20 000 organisations of one message
  // each that took 5 ms a message. Only those that have more than their share lose something.
  const makeRoom = (): void => {
    const share = bounds.bytes / kept.size
    const enough = bounds.bytes * 0.75
    const areLarge = () => [...kept].filter(([, own]) => own.bytes > share)
    for (let large = areLarge(); large.length > 0 && bytes > enough; large = areLarge())
      for (const [orgId, own] of large.sort(([, a], [, b]) => b.bytes - a.bytes))
        if (bytes > enough) drop(orgId, own, Math.ceil(own.messages.length / 2))
  }

  return {
    /** Adds messages of one partition, in their order. */
    add: (partition: number, messages: readonly Received[]): void => {
      for (const one of messages) {
        const message = { ...one, value: one.value && copyOf(one.value), partition }
        const orgId = orgOf(one.key)
        keep(orgId, message)
        for (const listen of listeners.get(orgId) ?? []) listen(message)
      }
    },
    /** The last messages of an organisation that are still kept, oldest first. */
    lastOf: (orgId: string, most: number): TailEvent[] => lastOf(kept.get(orgId)?.messages ?? [], most),
    /** Calls back with each message of an organisation that comes from now on; what is returned ends that. */
    listen: (orgId: string, onMessage: (message: TailMessage) => void): (() => void) => {
      const own = listeners.get(orgId) ?? new Set()
      listeners.set(orgId, own.add(onMessage))
      return () => {
        own.delete(onMessage)
        if (own.size === 0) listeners.delete(orgId)
      }
    },
  }
}

/** A value is a piece of all that was read with it: up to a megabyte would be held for one message of an organisation that sends rarely. */
const copyOf = (value: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(value.length)
  value.copy(copy)
  return copy
}

const sizeOf = ({ value }: TailMessage): number => value?.length ?? 0

/**
 * Partitions are read side by side; together they are shown in the order in which they were written, each once. What was written of a
 * record before a message says that it is gone is shown no longer.
 */
export const lastOf = (messages: readonly TailMessage[], most: number): TailEvent[] => {
  const inOrder = [...new Map(messages.map((one) => [`${one.partition}/${one.offset}`, one])).values()].sort(
    (a, b) => a.timestamp - b.timestamp || a.offset - b.offset,
  )
  const goneAt = new Map<string | null, number>()
  for (const { key, offset, value } of inOrder)
    if (value === null) goneAt.set(key, Math.max(offset, goneAt.get(key) ?? 0))
  return inOrder
    .filter(hasValue)
    .filter(({ key, offset }) => offset > (goneAt.get(key) ?? -1))
    .slice(-most)
}

/** Keys are `<org_id>/<id>`, or the organisation alone. */
const orgOf = (key: string | null): string => key?.split('/', 1)[0] ?? ''
