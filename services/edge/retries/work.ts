import {
  findOrdered,
  findOrderingOrgs,
  markSent,
  rejectionName,
  releaseRetries,
  releaseSome,
  type Unanswered,
} from '#ledger/retries/claims.js'
import type { Log } from '#platform/health/log.js'
import { type StillAlone, tryAlone } from '#platform/postgres/alone.js'
import { findRecords, type Wanted } from '#rejections/find-rejections.js'
import { findOvertaken, hasCaughtUp, type Sources } from '#rejections/plan-retry.js'
import { type SubmitAgain, sendClaimed } from '#rejections/send-claimed.js'

export type RetryWork = ReturnType<typeof createRetryWork>

// An organisation whose records are decided slowly holds up only itself, as long as no more than this many are slow.
export const orgsAtOnce = 3
const mostOrgs = 100
// Each interaction is a request of its own: many go side by side, and are gathered into few batches.
const interactionsAtOnce = 200
const mostTried = 5

/** Submits ordered rejections. The claims in Postgres are the queue: any edge works on it, one at a time per organisation. */
export const createRetryWork = (
  deps: Sources & {
    submit: SubmitAgain
    /** Whether this much may be taken in for a type of an organisation now; what is returned is called when it is decided. */
    admit: (org: string, type: string, bytes: number) => (() => void) | undefined
    log: Log
  },
) => {
  const { pool, log } = deps
  let running: Promise<void> | undefined
  let isWanted = false
  let isStopped = false

  /** The part of a request that is to be sent now, after what must not be sent was given back; null where nothing of it can be. */
  const prepare = async (job: Unanswered, records: ReadonlyMap<string, string>): Promise<Unanswered | null> => {
    const overtaken = await findOvertaken(deps, job)
    if (job.isSent && overtaken.size > 0) {
      // It may be in the log, or not, and cannot be sent without these records as the same request: so it is given up.
      await releaseRetries(pool, job.retryId)
      return null
    }
    const isGood = (each: Wanted): boolean => records.has(rejectionName(each)) && !overtaken.has(rejectionName(each))
    const wanted = job.wanted.filter(isGood)
    if (wanted.length === job.wanted.length) return job
    // What was sent is sent as it was, once ClickHouse shows all of it again: a table may be rebuilt at this moment.
    if (job.isSent) return null
    const others = job.wanted.filter((each) => !isGood(each))
    await releaseSome(pool, job.retryId, others)
    return wanted.length > 0 ? { ...job, wanted } : null
  }

  /** Sends some requests of one organisation and type side by side. How many were answered. */
  const send = async (jobs: readonly Unanswered[], stillAlone: StillAlone): Promise<number> => {
    const [first] = jobs
    if (!first || !(await hasCaughtUp(deps, first))) return 0
    const all = jobs.flatMap(({ wanted }) => wanted)
    const records = await findRecords(deps.clickhouse, first.org, all)
    const ready: Unanswered[] = []
    for (const job of jobs) {
      const prepared = await prepare(job, records)
      if (prepared) ready.push(prepared)
    }
    const bytes = [...records.values()].reduce((sum, text) => sum + text.length, 0)
    const done = ready.length > 0 ? deps.admit(first.org, first.type, bytes) : undefined
    if (!done) return 0
    try {
      await stillAlone()
      const retryIds = ready.map(({ retryId }) => retryId)
      await markSent(pool, retryIds)
      const results = await Promise.allSettled(ready.map((job) => sendClaimed(deps, job, records)))
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
      return results.filter((result) => isAnswered(result)).length
    } finally {
      done()
    }
  }

  const isAnswered = (result: PromiseSettledResult<Awaited<ReturnType<typeof sendClaimed>>>): boolean => {
    if (result.status === 'rejected') return false
    if (!('notTaken' in result.value)) return true
    log.error({ reason: result.value.notTaken }, 'a retry was not taken')
    return false
  }

  /** The next request of an organisation, or the next interactions. Whether any was answered. */
  const serve = async (org: string): Promise<boolean> => {
    const served = await tryAlone(pool, `weir retries of ${org}`, async (stillAlone) => {
      const jobs = await findOrdered(pool, org, interactionsAtOnce)
      const interactions = jobs.filter(({ type }) => type === deps.catalogue.interaction.type)
      const uploads = jobs.filter((job) => !interactions.includes(job)).slice(0, mostTried)
      // A request that cannot be sent now must not hold up those behind it.
      for (const job of uploads) if ((await send([job], stillAlone)) > 0) return true
      return (await send(interactions, stillAlone)) > 0
    })
    return served?.done ?? false
  }

  const serveOrLog = (org: string): Promise<boolean> =>
    serve(org).catch((error) => {
      log.warn({ err: error }, 'a retry could not be submitted now, and is tried again')
      return false
    })

  const round = async (): Promise<boolean> => {
    const orgs = await findOrderingOrgs(pool, mostOrgs)
    let hasDone = false
    const serveNext = async (): Promise<void> => {
      for (let org = orgs.shift(); org !== undefined && !isStopped; org = orgs.shift())
        hasDone = (await serveOrLog(org)) || hasDone
    }
    await Promise.all(Array.from({ length: orgsAtOnce }, serveNext))
    return hasDone
  }

  const work = async (): Promise<void> => {
    do {
      isWanted = false
      while (!isStopped && (await round()));
    } while (isWanted && !isStopped)
  }

  return {
    /** Submits what was ordered and is not answered, until nothing of it can be done at the moment. */
    tick: async (): Promise<void> => {
      isWanted = true
      running ??= work()
        .catch((error) => log.warn({ err: error }, 'could not look for retries that were ordered'))
        .finally(() => {
          running = undefined
        })
      await running
    },
    stop: async (): Promise<void> => {
      isStopped = true
      await running
    },
  }
}
