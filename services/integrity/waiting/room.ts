import { countWaiting } from '#ledger/waiting/look-up.js'
import type { Connection } from '#platform/postgres/postgres.js'

/** How many more records of an organisation may wait. */
export type RoomToWait = ReturnType<typeof createRoomToWait>

type Counted = { waiting: number; at: number; took: number }

const countEvery = 1_000
// Counting a million takes a tenth of a second: at the most a fiftieth of the time goes into it.
const restFor = 50
const mostOrgs = 10_000

/** Counts each organisation's waiting records anew once a second: the limit keeps a mistake small, and is not exact. */
export const createRoomToWait = (most: number, now = () => performance.now()) => {
  const counts = new Map<string, Counted>()
  return {
    of: async (connection: Connection, orgId: string): Promise<number> => {
      const known = counts.get(orgId)
      if (known && now() - known.at < Math.max(countEvery, restFor * known.took)) return most - known.waiting
      const begin = now()
      const { waiting } = await countWaiting(connection, orgId)
      if (counts.size >= mostOrgs) counts.clear()
      counts.set(orgId, { waiting, at: now(), took: now() - begin })
      return most - waiting
    },
    /** Notes how many have begun to wait, once that is committed. */
    taken: (orgId: string, begun: number): void => {
      const known = counts.get(orgId)
      if (known) known.waiting += begun
    },
  }
}
