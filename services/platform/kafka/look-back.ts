import { placeOf, type TopicPartition } from './partitions.js'

/** What of a kafkajs consumer it takes to go back. */
type Seekable = {
  on: (name: 'consumer.group_join', listener: () => void) => unknown
  seek: (to: { topic: string; partition: number; offset: string }) => void
}

/**
 * Has the first fetch of each partition begin one message earlier, to be compared with what was handled last: a log that was
 * cut and has grown again holds another message there. The committed offset is not moved.
 */
export const createLookBack = (consumer: Seekable) => {
  /** Where each partition's first fetch began, by `topic/partition`. */
  const began = new Map<string, number>()
  consumer.on('consumer.group_join', () => began.clear())
  return {
    /** Whether this fetch, which begins at `first`, is to be left alone: it comes again, one message longer. */
    goesBack: (at: TopicPartition, first: number): boolean => {
      if (began.has(placeOf(at))) return false
      began.set(placeOf(at), first)
      if (first === 0) return false
      consumer.seek({ topic: at.topic, partition: at.partition, offset: String(first - 1) })
      return true
    },
    /** The fetch with that one message apart, as `before`; also when it failed and comes again from the same message on. */
    split: <Message extends { offset: number }, Fetched extends TopicPartition & { messages: Message[] }>(
      fetch: Fetched,
    ): Fetched & { before?: Message } => {
      const [before, ...messages] = fetch.messages
      return before && before.offset + 1 === began.get(placeOf(fetch)) ? { ...fetch, before, messages } : fetch
    },
  }
}
