import type { Doer } from '#ledger/audit.js'
import * as ledger from '#ledger/waiting/look-up.js'
import { findWaitSamples, type WaitSample } from '#ledger/waiting/samples.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'

/** Which of an organisation's waiting records are meant. */
export type OwnWaits = Omit<ledger.WaitFilter, 'orgId'>

export type AwaitedPage = { missing: (ledger.MissingRecord & { sample: WaitSample[] })[]; waiting: number }

/** An organisation's own records that wait. */
export type OwnWaiting = ReturnType<typeof createOwnWaiting>

type Page<After> = { after?: After | undefined; limit: number }

const samplesOfEach = 3

// To count a million of them takes seconds.
const queryTimeout = 20_000

export const createOwnWaiting = (pool: Pool) => {
  const patiently = <T>(work: (db: Connection) => Promise<T>): Promise<T> => inTransaction(pool, work, { queryTimeout })
  return {
    /** What is waited for, and how many records wait in all. */
    missing: (
      orgId: string,
      { type, after, limit }: { type?: string | undefined } & Page<ledger.AfterMissing>,
    ): Promise<AwaitedPage> =>
      patiently(async (db) => {
        const missing = await ledger.findMissing(db, { orgId, type }, { after, limit })
        const samples = await findWaitSamples(db, orgId, missing, samplesOfEach)
        const { waiting } = await ledger.countWaiting(db, orgId)
        const behind = (one: ledger.MissingRecord) =>
          samples.filter(({ missingType, missingId }) => missingType === one.type && missingId === one.id)
        return { missing: missing.map((one) => ({ ...one, sample: behind(one) })), waiting }
      }),
    records: (orgId: string, filter: OwnWaits, page: Page<ledger.AfterWait>) =>
      patiently((db) => ledger.findWaits(db, { ...filter, orgId }, page)),
    /** Ends the waiting of at most `most` records, and resolves to how many. */
    cancel: (orgId: string, filter: OwnWaits, most: number, by?: Doer) =>
      patiently((db) => ledger.cancelWaits(db, { ...filter, orgId }, most, by)),
    count: (orgId: string, filter: OwnWaits) => patiently((db) => ledger.countWaits(db, { ...filter, orgId })),
  }
}
