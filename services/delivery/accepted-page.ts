import { type FeedCursor, isInTables, type LogPosition, writeCursor } from '#feeds/cursor.js'
import { toShown } from '#feeds/event-json.js'
import type { FeedPage, FeedSource } from '#feeds/feed.js'
import { type FeedEvent, NoLongerKept, type ReadLog } from '#feeds/read-log.js'
import type { Draft } from '#ledger/webhooks/deliveries.js'
import type { Log } from '#platform/health/log.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { writeJson } from '#schemas/json-text.js'
import type { RecordType } from '#schemas/record.js'
import { bodyOf, cursorOf, idOf, type MadeNext, type QueueToRead } from './next.js'

/** How much one delivery carries. */
export const usualPage = { events: 200, bytes: 512 * 1024 }
// As long before the moment that a cursor names as clocks may differ.
const margin = 60_000

/** Deliveries of records.accepted: pages of an organisation's feed. */
export const createAcceptedPages = (deps: {
  feed: FeedSource
  readLog: ReadLog
  catalogue: Catalogue
  log: Log
  page?: typeof usualPage
}) => {
  const { feed, page: most = usualPage } = deps
  const types = [...deps.catalogue.all.values()]

  /** Types that came with a newer version are read from the beginning of their log. */
  const complete = async (org: string, cursor: FeedCursor): Promise<FeedCursor> => {
    const added = types.filter(({ type }) => !cursor.positions.has(type))
    if (added.length === 0) return cursor
    const begun = await feed.begin(org, added, new Date(cursor.at))
    return { at: cursor.at, positions: new Map([...cursor.positions, ...begun.positions]) }
  }

  const readNext = async (org: string, cursor: FeedCursor, count: number): Promise<FeedPage> => {
    try {
      return await feed.read(org, types, cursor, count)
    } catch (error) {
      if (!(error instanceof NoLongerKept)) throw error
      // What the log no longer has, the tables have: each record that changed since then, as it is now.
      deps.log.warn({ org }, 'a webhook was away for longer than the log is kept: it goes on with the tables')
      return feed.read(org, types, await feed.begin(org, types, new Date(cursor.at - margin)), count)
    }
  }

  return {
    next: async ({ webhookId, org, readTo }: QueueToRead): Promise<MadeNext> => {
      const cursor = await complete(org, cursorOf(org, readTo))
      let page = await readNext(org, cursor, most.events)
      let text = dataOf(page.events)
      if (Buffer.byteLength(text) > most.bytes && page.events.length > 1) {
        const share = most.bytes / Buffer.byteLength(text)
        page = await readNext(org, cursor, Math.max(1, Math.floor(page.events.length * share)))
        text = dataOf(page.events)
      }
      const to = writeCursor(org, page.cursor)
      if (page.events.length === 0) return { drafts: [], readTo: to, isEnd: page.isEnd }
      const canBeRepeated = ![...cursor.positions.values()].some(isInTables)
      const draft: Draft = {
        id: idOf(webhookId, 'records.accepted', to),
        event: 'records.accepted',
        records: page.events.length,
        body: bodyOf('records.accepted', text),
        ...(canBeRepeated && { from: writeCursor(org, cursor), to }),
      }
      return { drafts: [draft], readTo: to, isEnd: page.isEnd }
    },
    /** The body of a delivery again, from the log; undefined where that is no longer kept. */
    again: async (org: string, from: string, to: string, at: Date): Promise<string | undefined> => {
      const [begin, end] = [logOf(cursorOf(org, from), types), logOf(cursorOf(org, to), types)]
      const events: FeedEvent[] = []
      try {
        for (let positions: ReadonlyMap<RecordType, LogPosition> = begin; ; ) {
          const read = await deps.readLog(org, positions, most.events, end)
          events.push(...read.events)
          if (read.isEnd || events.length >= most.events) break
          positions = read.positions
        }
      } catch (error) {
        if (error instanceof NoLongerKept) return undefined
        throw error
      }
      return events.length === 0 ? undefined : bodyOf('records.accepted', dataOf(events), at)
    },
  }
}

const dataOf = (events: readonly FeedEvent[]): string => writeJson({ events: events.map(toShown) })

const logOf = ({ positions }: FeedCursor, types: readonly RecordType[]): Map<RecordType, LogPosition> =>
  new Map(
    types.flatMap((type) => {
      const position = positions.get(type.type)
      return position && !isInTables(position) ? [[type, position] as const] : []
    }),
  )
