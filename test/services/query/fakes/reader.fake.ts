import { Unavailable } from '#http/request-error.js'
import type { InteractionRow, ReadInteractions } from '#query/interactions/list-interactions.js'

export type FakeInteractions = ReadInteractions & { rows: (InteractionRow & { org_id: string })[]; isAway: boolean }

/** The order and the pages of the real one, over an array. */
export const createFakeInteractions = (): FakeInteractions => {
  const read: ReadInteractions = async (orgId, { filters, from, to, after, limit }) => {
    if (fake.isAway) throw new Unavailable('ClickHouse is away')
    const isAfterCursor = (time: number, id: string) =>
      !after || time < after.timestamp || (time === after.timestamp && id < after.id)
    return fake.rows
      .filter((row) => {
        const time = Date.parse(row.event_timestamp)
        return (
          row.org_id === orgId &&
          Object.entries(filters).every(([name, value]) => row[name] === value) &&
          (from === undefined || time >= from) &&
          (to === undefined || time < to) &&
          isAfterCursor(time, row.interaction_id)
        )
      })
      .sort((a, b) => compare(b.event_timestamp, a.event_timestamp) || compare(b.interaction_id, a.interaction_id))
      .slice(0, limit)
      .map(({ org_id: _, ...row }) => row as InteractionRow)
  }
  const fake: FakeInteractions = Object.assign(read, { rows: [], isAway: false })
  return fake
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
