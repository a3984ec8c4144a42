import {
  type AfterMissing,
  type AfterWait,
  cancelWaits,
  countWaiting,
  findMissing,
  findWaits,
  type MissingRecord,
  type Wait,
  type WaitFilter,
} from '#ledger/waiting/look-up.js'
import { findWaitSamples, type WaitSample } from '#ledger/waiting/samples.js'
import type { Log } from '#platform/health/log.js'
import { abandonAfter, createPool, endPool, type Pool } from '#platform/postgres/postgres.js'
import type { OnStop } from '#platform/process/lifecycle.js'
import { createReads, type Reads } from '../reads.js'

/** Which of an organisation's waiting records are meant. */
export type OwnWaits = Omit<WaitFilter, 'orgId'>

export type AwaitedPage = { missing: (MissingRecord & { sample: WaitSample[] })[]; waiting: number }

/** An organisation's own records that wait. */
export type OwnWaiting = {
  /** What is waited for, and how many records wait in all. */
  missing: (
    orgId: string,
    page: { type?: string | undefined; after?: AfterMissing | undefined; limit: number },
  ) => Promise<AwaitedPage>
  records: (orgId: string, filter: OwnWaits, page: { after?: AfterWait | undefined; limit: number }) => Promise<Wait[]>
  /** Ends the waiting of at most `most` records, and resolves to how many. */
  cancel: (orgId: string, filter: OwnWaits, most: number) => Promise<number>
}

const samplesOfEach = 3

export const createOwnWaiting = (pool: Pool): OwnWaiting => ({
  missing: async (orgId, { type, after, limit }) => {
    const missing = await findMissing(pool, { orgId, type }, { after, limit })
    const samples = await findWaitSamples(pool, orgId, missing, samplesOfEach)
    const { waiting } = await countWaiting(pool, orgId)
    const behind = (one: MissingRecord) =>
      samples.filter(({ missingType, missingId }) => missingType === one.type && missingId === one.id)
    return { missing: missing.map((one) => ({ ...one, sample: behind(one) })), waiting }
  },
  records: (orgId, filter, page) => findWaits(pool, { ...filter, orgId }, page),
  cancel: (orgId, filter, most) => cancelWaits(pool, { ...filter, orgId }, most),
})

/**
 * Opens what the routes about waiting records need, with connections of its own: whoever asks much about a million of them keeps
 * nobody from uploading. To count them takes seconds, so an organisation is answered one question at a time.
 */
export const openWaiting = (
  { access, log }: { access: { postgres: string }; log: Log },
  onStop: OnStop,
): { waiting: OwnWaiting; waitingReads: Reads; abandonAfter: (ms: number) => void } => {
  const pool = createPool(access.postgres, log, 3, { queryTimeout: 20_000 })
  onStop('postgres for waiting records', () => endPool(pool))
  return {
    waiting: createOwnWaiting(pool),
    waitingReads: createReads(20_000, 'waiting records', { atOnce: 3, ofOne: 1 }),
    abandonAfter: (ms) => abandonAfter(ms, pool),
  }
}
