import type { FeedPosition } from '#feeds/cursor.js'
import type { FeedSource } from '#feeds/feed.js'
import { type FeedEvent, NoLongerKept } from '#feeds/read-log.js'
import type { RecordType } from '#schemas/record.js'

/** A feed whose events are told to it; of each type in one partition, and with places as versions. */
export const createFakeFeed = () => {
  const accepted = new Map<string, FeedEvent[]>()
  const of = (orgId: string, type: string): FeedEvent[] => accepted.get(`${orgId}/${type}`) ?? []
  let keptFrom = 0
  let reads = 0
  const at = (version: number): FeedPosition => ({ generation: 0, next: { 0: version } })

  const feed: FeedSource = {
    begin: async (orgId, types, start) => {
      const first = (type: RecordType) => (start === 'now' ? of(orgId, type.type).length : 0)
      return { at: 0, positions: new Map(types.map((type) => [type.type, at(first(type))])) }
    },
    read: async (orgId, types, cursor, most) => {
      reads++
      const positions = new Map(cursor.positions)
      const events: FeedEvent[] = []
      for (const type of types) {
        const next = (cursor.positions.get(type.type) as { next: Record<number, number> }).next[0] ?? 0
        if (next < keptFrom) throw new NoLongerKept(type)
        const some = of(orgId, type.type).slice(next, next + most - events.length)
        events.push(...some)
        positions.set(type.type, at(next + some.length))
      }
      return { events, cursor: { at: cursor.at, positions }, isEnd: events.length < most }
    },
  }
  return {
    feed,
    reads: () => reads,
    accept: (orgId: string, type: RecordType, values: Record<string, unknown>): void => {
      const all = of(orgId, type.type)
      const event = {
        ...{ org_id: orgId, request_id: 'r', batch_id: 'b', accepted_at: 1_767_225_600_000, version: all.length },
        ...values,
      }
      accepted.set(`${orgId}/${type.type}`, [...all, { type, event }])
    },
    forgetBefore: (version: number): void => {
      keptFrom = version
    },
  }
}
