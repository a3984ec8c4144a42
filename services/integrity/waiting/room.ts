import { countTaken } from '#ledger/waiting/waits.js'
import type { Connection } from '#platform/postgres/postgres.js'
import { type Room, roomAfter } from '#schemas/decide.js'

/** How many more records of an organisation may wait, and how many more bytes they may take. */
export type RoomToWait = ReturnType<typeof createRoomToWait>

type Counted = { taken: Room; at: number; took: number }

const countEvery = 1_000
// Counting a million takes a tenth of a second: at the most a fiftieth of the time goes into it.
const restFor = 50
const mostOrgs = 10_000

/** Counts each organisation's waiting records anew once a second: the limits keep a mistake small, and are not exact. */
export const createRoomToWait = (most: Room, now = () => performance.now()) => {
  const counts = new Map<string, Counted>()
  return {
    of: async (connection: Connection, orgId: string): Promise<Room> => {
      const known = counts.get(orgId)
      if (known && now() - known.at < Math.max(countEvery, restFor * known.took)) return roomAfter(most, known.taken)
      const begin = now()
      const taken = await countTaken(connection, orgId)
      if (counts.size >= mostOrgs) counts.clear()
      counts.set(orgId, { taken, at: now(), took: now() - begin })
      return roomAfter(most, taken)
    },
    /** Notes that a record has begun to wait, once that is committed. */
    taken: ({ orgId, size }: { orgId: string; size: number }): void => {
      const known = counts.get(orgId)
      if (!known) return
      const { records, bytes } = known.taken
      known.taken = { records: records + 1, bytes: bytes + size }
    },
  }
}
