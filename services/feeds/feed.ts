import { findPartitionsSince } from '#ledger/latest/accepted.js'
import { type Generation, partitionOfRecord, partitionsOfOrg, toDecide } from '#ledger/layout/layout.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { generationOfSubmitted, submittedTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { mostOffsets, versionOf } from '#schemas/version.js'
import { type FeedCursor, type FeedPosition, isInTables, type LogPosition, type TablePosition } from './cursor.js'
import type { FeedEvent, ReadLog } from './read-log.js'
import type { ReadTables } from './read-tables.js'
import type { FindStored } from './stored.js'

/** Every record as it is now and then each change; what was accepted since a moment; or only what comes from now on. */
export type FeedStart = 'beginning' | 'now' | Date

/** What comes next, and where to go on; `isEnd` where there is no more at this moment. */
export type FeedPage = { events: FeedEvent[]; cursor: FeedCursor; isEnd: boolean }

/** Where in the log of a type the reader of an organisation's feed begins; undefined where it no longer has everything since then. */
export type FindInLog = (orgId: string, type: RecordType, since: Date | 'now') => Promise<LogPosition | undefined>

export const createFindInLog =
  (deps: { pool: Pool; findGenerations: () => Promise<readonly Generation[]> }): FindInLog =>
  async (orgId, type, since) => {
    const generations = (await deps.findGenerations()).filter(({ state }) => state !== 'coming')
    const places = generations.flatMap((layout) =>
      partitionsOfOrg(type, orgId, layout).map((partition) => ({
        ...{ type: type.type, partition },
        topic: submittedTopic(type.type, layout.generation),
      })),
    )
    const found = await findPartitionsSince(deps.pool, orgId, places, since)
    if (found.some(({ isKept }) => !isKept)) return undefined
    const first = found.filter(({ firstSince }) => firstSince !== null).map(({ topic }) => generationOfSubmitted(topic))
    const generation = Math.min(...first, toDecide(generations)?.generation ?? 0)
    const next = found
      .filter(({ topic }) => generationOfSubmitted(topic) === generation)
      .map(({ partition, firstSince, decidedUntil }) => [partition, versionOf(firstSince ?? decidedUntil, 0)])
    return { generation, next: Object.fromEntries(next) }
  }

/** Where somebody begins who wants to know what is decided from now on. */
export const beginNow = async (
  orgId: string,
  types: readonly RecordType[],
  findInLog: FindInLog,
): Promise<FeedCursor> => {
  const at = Date.now()
  const found = await Promise.all(types.map(async (type) => [type.type, await findInLog(orgId, type, 'now')] as const))
  return { at, positions: new Map(found.flatMap(([type, position]) => (position ? [[type, position]] : []))) }
}

export type FeedSource = ReturnType<typeof createFeed>

/**
 * What was accepted for an organisation, in the order in which it was decided, record by record. What is kept of the log is read from there;
 * what came before, from the tables, which have the newest version of each record.
 */
export const createFeed = (deps: {
  pool: Pool
  findGenerations: () => Promise<readonly Generation[]>
  readLog: ReadLog
  readTables: ReadTables
  findStored: FindStored
}) => {
  const inTables = async (type: RecordType, since: number): Promise<TablePosition> => ({
    since,
    after: [],
    log: await deps.findStored(type),
  })

  const inLog = createFindInLog(deps)

  /** Whether a version comes from the log afterwards: handed over before, it would stand before older ones. */
  const createIsInLog = async (orgId: string, type: RecordType, { generation, next }: LogPosition) => {
    const layout = (await deps.findGenerations()).find((each) => each.generation === generation)
    return (event: AcceptedEvent): boolean => {
      // An interaction has one version, and lies in any partition.
      if (type.stream || !layout) return false
      const partition = partitionOfRecord(orgId, String(event[type.id]), layout)
      return event.version >= (next[partition] ?? versionOf(generation * mostOffsets, 0))
    }
  }

  const startOf = async (orgId: string, type: RecordType, start: FeedStart): Promise<FeedPosition> => {
    if (start === 'beginning') return inTables(type, 0)
    const position = await inLog(orgId, type, start)
    if (position) return position
    return inTables(type, start === 'now' ? Date.now() : start.getTime())
  }

  return {
    begin: async (orgId: string, types: readonly RecordType[], start: FeedStart): Promise<FeedCursor> => {
      const at = Date.now()
      const positions = new Map<string, FeedPosition>()
      for (const type of types) positions.set(type.type, await startOf(orgId, type, start))
      return { at: start instanceof Date ? Math.min(at, start.getTime()) : at, positions }
    },
    /** What comes next of these types, which are those of the cursor, at most `most` events. Rejects with NoLongerKept where that is no longer kept. */
    read: async (orgId: string, types: readonly RecordType[], cursor: FeedCursor, most: number): Promise<FeedPage> => {
      // First what the tables have, type by type: of records as they are now, those that others refer to come before them.
      for (const type of types) {
        const position = cursor.positions.get(type.type)
        if (!position || !isInTables(position)) continue
        const { events, after } = await deps.readTables(orgId, type, position, most)
        const next = events.length < most ? position.log : { ...position, after }
        const isInLog = await createIsInLog(orgId, type, position.log)
        return {
          events: events.filter((event) => !isInLog(event)).map((event) => ({ type, event })),
          cursor: { at: cursor.at, positions: new Map(cursor.positions).set(type.type, next) },
          isEnd: false,
        }
      }
      const begun = Date.now()
      const from = new Map(types.map((type) => [type, cursor.positions.get(type.type) as LogPosition]))
      const { events, positions, isEnd } = await deps.readLog(orgId, from, most)
      const at = Math.max(cursor.at, isEnd ? begun : (events.at(-1)?.event.accepted_at ?? 0))
      return {
        events,
        cursor: { at, positions: new Map([...positions].map(([type, position]) => [type.type, position])) },
        isEnd,
      }
    },
  }
}
