import { randomUUID } from 'node:crypto'
import { Unavailable } from '#http/request-error.js'
import type { Log } from '#platform/health/log.js'
import type { Consumer, Kafka } from '#platform/kafka/kafka.js'
import { within } from '#platform/process/within.js'
import { edgeGroups } from '#schemas/derive/names.js'
import { createTail, type Tail } from './tail.js'

export type Followers = ReturnType<typeof createFollowers>

type Follower = {
  tail: Tail
  watchers: number
  /** Resolves once all that was there at the beginning is read. */
  ready: Promise<void>
  end: () => Promise<void>
  timer?: NodeJS.Timeout
  onGone: Set<() => void>
  isOver: boolean
}

const mostTopics = 6
// Of each partition: so far back an organisation's last messages are looked for among those of others.
const readBack = 2_000
const readyWithin = 15_000
const lingerMs = 60_000
const bytesPerFetch = 1024 * 1024

/** Reads topics for those who look at them, each in a consumer group of its own, which commits nothing. */
export const createFollowers = ({ kafka, log }: { kafka: Kafka; log: Log }) => {
  const followers = new Map<string, Follower>()

  const forget = (topic: string, follower: Follower): void => {
    if (follower.isOver) return
    follower.isOver = true
    followers.delete(topic)
    clearTimeout(follower.timer)
    for (const tell of follower.onGone) tell()
    follower.end().catch((error) => log.warn({ err: error, topic }, 'a topic could not be left'))
  }

  const begin = (topic: string): Follower => {
    const tail = createTail()
    const opened = open(topic, tail, (error) => {
      log.warn({ err: error, topic }, 'a topic is no longer followed')
      forget(topic, follower)
    })
    const caughtUp = opened.then((one) => one.caughtUp)
    const follower: Follower = {
      tail,
      watchers: 0,
      ready: within(readyWithin, caughtUp),
      end: async () => (await opened).consumer.close(),
      onGone: new Set(),
      isOver: false,
    }
    follower.ready.catch(() => forget(topic, follower))
    followers.set(topic, follower)
    return follower
  }

  const open = async (topic: string, tail: Tail, crash: (error: Error) => void) => {
    const offsets = await kafka.withAdmin((admin) => admin.fetchTopicOffsets(topic))
    const left = new Map(
      offsets.filter(({ low, high }) => low !== high).map((one) => [one.partition, Number(one.high)]),
    )
    let done = (): void => {}
    const caughtUp = new Promise<void>((resolve) => {
      done = resolve
    })
    const hasRead = (partition: number, next: number): void => {
      if (next >= (left.get(partition) ?? 0)) left.delete(partition)
      if (left.size === 0) done()
    }
    if (left.size === 0) done()
    const consumer: Consumer = await kafka.consume({
      groupId: `${edgeGroups}${randomUUID()}`,
      topics: [topic],
      fromBeginning: false,
      startAt: offsets.map(({ partition, low, high }) => ({
        topic,
        partition,
        offset: Math.max(Number(low), Number(high) - readBack),
      })),
      commits: false,
      bytesPerFetch,
      onFetch: async ({ partition, messages, next }) => {
        tail.add(partition, messages)
        hasRead(partition, next)
      },
      onNothing: ({ partition, next }) => hasRead(partition, next),
      crash,
    })
    return { consumer, caughtUp }
  }

  return {
    /** Reads the end of a topic, until a minute after the last one has left. `onGone` is called where that ends before. */
    follow: async (topic: string, onGone: () => void = () => {}): Promise<{ tail: Tail; leave: () => void }> => {
      const known = followers.get(topic)
      if (!known && followers.size >= mostTopics)
        throw new Unavailable('too many topics are being read at the moment for another one')
      const follower = known ?? begin(topic)
      clearTimeout(follower.timer)
      follower.watchers++
      follower.onGone.add(onGone)
      let hasLeft = false
      const leave = (): void => {
        if (hasLeft) return
        hasLeft = true
        follower.watchers--
        follower.onGone.delete(onGone)
        if (follower.watchers > 0 || follower.isOver) return
        follower.timer = setTimeout(() => forget(topic, follower), lingerMs)
        follower.timer.unref()
      }
      try {
        await follower.ready
      } catch (cause) {
        leave()
        throw new Unavailable('this topic cannot be read at the moment', { cause })
      }
      return { tail: follower.tail, leave }
    },
    close: async (): Promise<void> => {
      await Promise.allSettled(
        [...followers.values()].map(async (follower) => {
          clearTimeout(follower.timer)
          await follower.end()
        }),
      )
    },
  }
}
