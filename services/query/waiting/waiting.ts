import * as ledger from '#ledger/waiting/look-up.js'
import { findWaitSamples, type WaitSample } from '#ledger/waiting/samples.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'

/** Which of an organisation's waiting records are meant. */
export type OwnWaits = Omit<ledger.WaitFilter, 'orgId'>

export type AwaitedPage = { missing: (ledger.MissingRecord & { sample: WaitSample[] })[]; waiting: number }

/** An organisation's own records that wait. */
export type OwnWaiting = {
  /** What is waited for, and how many records wait in all. */
  missing: (
    orgId: string,
    page: { type?: string | undefined; after?: ledger.AfterMissing | undefined; limit: number },
  ) => Promise<AwaitedPage>
  records: (
    orgId: string,
    filter: OwnWaits,
    page: { after?: ledger.AfterWait | undefined; limit: number },
  ) => Promise<ledger.Wait[]>
  /** Ends the waiting of at most `most` records, and resolves to how many. */
  cancel: (orgId: string, filter: OwnWaits, most: number) => Promise<number>
}

const samplesOfEach = 3

// To count a million of them takes seconds.
const queryTimeout = 20_000

export const createOwnWaiting = (pool: Pool): OwnWaiting => {
  const patiently = <T>(work: (db: Connection) => Promise<T>): Promise<T> => inTransaction(pool, work, { queryTimeout })
  return {
    missing: (orgId, { type, after, limit }) =>
      patiently(async (db) => {
        const missing = await ledger.findMissing(db, { orgId, type }, { after, limit })
        const samples = await findWaitSamples(db, orgId, missing, samplesOfEach)
        const { waiting } = await ledger.countWaiting(db, orgId)
        const behind = (one: ledger.MissingRecord) =>
          samples.filter(({ missingType, missingId }) => missingType === one.type && missingId === one.id)
        return { missing: missing.map((one) => ({ ...one, sample: behind(one) })), waiting }
      }),
    records: (orgId, filter, page) => patiently((db) => ledger.findWaits(db, { ...filter, orgId }, page)),
    cancel: (orgId, filter, most) => patiently((db) => ledger.cancelWaits(db, { ...filter, orgId }, most)),
  }
}
