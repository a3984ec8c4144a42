import { type NotedRequest, pruneRequests } from '#ledger/requests.js'
import type { Log } from '#platform/health/log.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { inSteps, periodically } from '#platform/process/periodically.js'
import type { Config } from '../config.js'
import { publishedWithin } from './stored-request.js'

export type Note = {
  /** At once, for a request that is not going to wait; false where its key was used with another body. Or it throws. */
  save: () => Promise<boolean>
  /** So many of its batches, from the first on, are known to be written, and no more will be. */
  written: (batches: number) => void
  /** The request is answered; once it is decided, its verdicts tell all that the note could. */
  close: (isDecided: boolean) => void
}

export type RequestNotes = {
  /** To be called before a request's batches are published. */
  open: (request: NotedRequest) => Note
  /** Saves what has waited for a while: in Postgres it can be looked up by any edge. */
  tick: () => Promise<void>
}

type Entry = { request: NotedRequest; since: number; isSaved: boolean; isOver: boolean; isStale: boolean }

// Most requests are answered long before, and cost Postgres nothing.
const saveAfter = 1_000
const tryEvery = 1_000
const mostAtOnce = 1_000
// Answered without a verdict, while Postgres was away: so many are remembered until it is back.
const mostRemembered = 10_000

export const createRequestNotes = (deps: {
  saveRequests: (requests: readonly NotedRequest[]) => Promise<Set<string>>
  now: () => number
  log: Log
}): RequestNotes => {
  const { saveRequests, now, log } = deps
  const entries = new Set<Entry>()
  let isSaving = false
  let failedAt = Number.NEGATIVE_INFINITY

  const save = async (chosen: readonly Entry[]): Promise<Set<string>> => {
    const requests = chosen.map(({ request }) => ({ ...request }))
    const saved = await saveRequests(requests)
    chosen.forEach((entry, i) => {
      entry.isSaved = true
      // It may have been written meanwhile.
      entry.isStale = entry.request.written !== requests[i]?.written
    })
    return saved
  }

  const isDue = ({ isStale, isSaved, isOver, since }: Entry): boolean =>
    isStale && (isSaved || isOver || now() - since >= saveAfter)

  const forgetFinished = (): void => {
    for (const entry of entries) {
      const isFinished = entry.isOver && !entry.isStale && entry.request.written !== null
      if (isFinished || now() - entry.since > publishedWithin) entries.delete(entry)
    }
  }

  return {
    open: (request) => {
      const entry: Entry = { request, since: now(), isSaved: false, isOver: false, isStale: true }
      entries.add(entry)
      return {
        save: async () => {
          // Where this fails nothing is published, and there is nothing to tell of it later.
          entries.delete(entry)
          const isNoted = (await save([entry])).has(request.requestId)
          if (isNoted) entries.add(entry)
          return isNoted
        },
        written: (batches) => {
          entry.request.written = batches
          entry.isStale = true
        },
        close: (isDecided) => {
          entry.isOver = true
          if (isDecided || entries.size > mostRemembered) entries.delete(entry)
        },
      }
    },
    tick: async () => {
      forgetFinished()
      if (isSaving || now() - failedAt < tryEvery) return
      // One statement takes a request once only; the second of two with one key has its turn at the next tick.
      const due = new Map<string, Entry>()
      for (const entry of entries) {
        if (due.size === mostAtOnce) break
        if (isDue(entry) && !due.has(entry.request.requestId)) due.set(entry.request.requestId, entry)
      }
      if (due.size === 0) return
      isSaving = true
      try {
        await save([...due.values()])
      } catch (error) {
        failedAt = now()
        log.warn({ err: error, requests: due.size }, 'could not note requests that wait')
      } finally {
        isSaving = false
      }
    },
  }
}

/** Deletes what was noted of old requests, by the hour. */
export const startPruning = (deps: {
  config: Pick<Config, 'REQUEST_RETENTION_HOURS' | 'PRUNE_EVERY_SECONDS'>
  pool: Pool
  log: Log
}): { stop: () => Promise<void> } => {
  const { config, pool, log } = deps
  return periodically({
    name: 'pruning of requests',
    everyMs: config.PRUNE_EVERY_SECONDS * 1000,
    work: async (signal) => {
      const requests = await inSteps((most) => pruneRequests(pool, config.REQUEST_RETENTION_HOURS, most), { signal })
      if (requests > 0) log.info({ requests }, 'old requests pruned')
    },
    log,
  })
}
