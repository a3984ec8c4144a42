import type { Call, CallOptions } from '../call.js'
import type { FeedEvent, FeedPage } from '../endpoints.js'
import { queryOf, type TimeGiven } from '../pages.js'

/** Where a reader keeps its place: in a file, a database, the storage of a page. */
export type CursorStore = {
  /** Undefined or null where nothing was kept yet. */
  load: () => string | null | undefined | Promise<string | null | undefined>
  save: (cursor: string) => unknown
}

export type FeedOptions = CallOptions & {
  /** `beginning` (unless said), `now`, a time, or a cursor. */
  after?: TimeGiven | undefined
  /** How many events are asked for at a time: 500 unless said, 5000 at the most. */
  limit?: number | undefined
  /** How long a request waits where there is nothing yet: `30s`, up to `50s`. */
  wait?: string | undefined
}

export type ReadOptions = FeedOptions & {
  /** Its cursor is gone on from, before `after`. It is given the next one each time that all events of a page were taken. */
  store?: CursorStore | undefined
}

/** The events of a feed, one by one. Without `wait` it ends where there is no more for now; with it, it goes on for ever. */
export type EventReader = AsyncIterable<FeedEvent> & {
  /** Where to go on after the pages of which every event was taken; undefined before the first of them. */
  readonly cursor: string | undefined
}

/**
 * What was accepted for your organisation, in order by record, each at least once: apply an event where its `version` is higher than
 * the one that you have of its `type` and `id`. `types` is one type, several, or `all`.
 */
export type Feeds = {
  page: (types: string | readonly string[], options?: FeedOptions) => Promise<FeedPage>
  read: (types: string | readonly string[], options?: ReadOptions) => EventReader
}

export const createFeeds = (call: Call): Feeds => {
  const page: Feeds['page'] = async (types, { after, limit, wait, ...options } = {}) => {
    const one = typeof types === 'string' && types !== 'all' ? types : undefined
    const several = typeof types === 'string' ? types : types.join(',')
    const path = one === undefined ? '/v1/feeds' : `/v1/feeds/${encodeURIComponent(one)}`
    const query = queryOf({ types: one === undefined ? several : undefined, after, limit, wait })
    return (await call({ method: 'GET', path: path + query }, options)).json as FeedPage
  }

  return {
    page,
    read: (types, { store, ...options } = {}) => {
      let cursor: string | undefined
      async function* read(): AsyncGenerator<FeedEvent, void, undefined> {
        let after = cursor ?? (await store?.load()) ?? options.after
        for (;;) {
          const { events, next } = await page(types, { ...options, after })
          yield* events
          // Whoever asks for the event after the last one of a page is done with that.
          if (next !== cursor) await store?.save(next)
          cursor = next
          after = next
          if (events.length === 0 && options.wait === undefined) return
        }
      }
      return {
        get cursor() {
          return cursor
        },
        [Symbol.asyncIterator]: read,
      }
    },
  }
}
