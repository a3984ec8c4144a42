import { setTimeout as rest } from 'node:timers/promises'
import { type FeedCursor, writeCursor } from '#feeds/cursor.js'
import type { FeedPage, FeedSource, FeedStart } from '#feeds/feed.js'
import { NoLongerKept } from '#feeds/read-log.js'
import { TablesBehind } from '#feeds/stored.js'
import { Unavailable } from '#http/request-error.js'
import { createTally } from '#platform/process/tally.js'
import type { RecordType } from '#schemas/record.js'
import type { Reads } from '../reads.js'
import type { Wakes } from './wakes.js'

/** A reader of an organisation's feed of some types. */
export type FeedReader = {
  begin: (start: FeedStart) => Promise<FeedCursor>
  /** What comes next; where that is nothing, it is waited for as long as `until` (of `performance.now()`) is not over. */
  next: (cursor: FeedCursor, most: number, until: number) => Promise<FeedPage | 'gone'>
  /** Ends a wait at once, with nothing. */
  leave: () => void
}

export type FeedReaders = ReturnType<typeof createFeedReaders>

// Each is a connection and some kilobytes.
const mostWaiting = 20_000
const mostOfOrg = 5_000
// Of one who is woken again and again, so that many small batches are read together.
const restBetween = 50

export const createFeedReaders = (deps: { feed: FeedSource; reads: Reads; wakes: Wakes }) => {
  const { feed, reads, wakes } = deps
  const waiting = createTally()
  let isStopping = false
  const leaving = new Set<() => void>()

  /** Readers who are at one place, as all are who have read everything, read together. */
  const underWay = new Map<string, Promise<FeedPage | 'gone'>>()
  const read = (orgId: string, types: readonly RecordType[], cursor: FeedCursor, most: number) => {
    const name = `${orgId}/${most}/${writeCursor(orgId, { ...cursor, at: 0 })}`
    const known = underWay.get(name)
    if (known) return known
    const reading = reads(orgId, () =>
      feed.read(orgId, types, cursor, most).catch((error: unknown) => {
        if (error instanceof NoLongerKept) return 'gone' as const
        throw error
      }),
    )
      .then((page) => {
        if (page !== 'gone' && 'error' in page) throw new Unavailable(page.error.message)
        return page
      })
      .finally(() => underWay.delete(name))
    underWay.set(name, reading)
    return reading
  }

  return {
    open: (orgId: string, types: readonly RecordType[]): FeedReader => {
      let isOver = false
      let wake = () => {}
      const leave = () => {
        isOver = true
        wake()
      }
      const waitFor = async (ms: number, isWoken: () => boolean): Promise<void> => {
        if (ms <= 0 || isWoken() || isOver || isStopping) return
        if (waiting.all() >= mostWaiting || waiting.of(orgId) >= mostOfOrg) throw new TooManyReaders()
        waiting.add(orgId, 1)
        leaving.add(leave)
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>((resolve) => {
          wake = resolve
          timer = setTimeout(resolve, ms)
        })
        clearTimeout(timer)
        wake = () => {}
        leaving.delete(leave)
        waiting.add(orgId, -1)
      }

      return {
        begin: async (start) => {
          const begun = await reads(orgId, () =>
            feed.begin(orgId, types, start).catch((error: unknown) => {
              if (error instanceof TablesBehind) return 'behind' as const
              throw error
            }),
          )
          if (begun === 'behind')
            throw new Unavailable('the tables are behind what was accepted, and a feed from the beginning reads them')
          if ('error' in begun) throw new Unavailable(begun.error.message)
          return begun
        },
        next: async (from, most, until) => {
          let cursor = from
          let isWoken = false
          // Before the first read: what is accepted between a read and the wait is not missed.
          const ignore = wakes.listen(
            orgId,
            types.map(({ type }) => type),
            () => {
              isWoken = true
              wake()
            },
          )
          try {
            for (;;) {
              isWoken = false
              const page = await read(orgId, types, cursor, most)
              if (page === 'gone' || page.events.length > 0) return page
              cursor = page.cursor
              if (!page.isEnd) continue
              if (performance.now() >= until || isOver || isStopping) return page
              await waitFor(until - performance.now(), () => isWoken)
              // Should a verdict not have reached this edge, the reader's next question finds what it was about.
              if (!isWoken) return page
              await rest(restBetween)
            }
          } finally {
            ignore()
          }
        },
        leave,
      }
    },
    /** How many wait at this moment. */
    waiting: waiting.all,
    isStopping: (): boolean => isStopping,
    /** Ends every wait, and lets nobody wait any more. */
    stop: (): void => {
      isStopping = true
      for (const leave of leaving) leave()
    },
  }
}

export class TooManyReaders extends Error {}
