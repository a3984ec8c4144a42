import { type NotedRequest, pruneRequests } from '#ledger/requests.js'
import type { Log } from '#platform/health/log.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { inSteps, periodically } from '#platform/process/periodically.js'
import type { EdgeConfig } from '../config.js'
import { publishedWithin } from './stored-request.js'

export type Note = {
  /** Saves at once, for a request that does not wait. False where its key was used with another body; throws without Postgres. */
  save: () => Promise<boolean>
  /** To be called once: this many of the request's batches, from the first on, are written, and no more will be. */
  written: (batches: number) => void
  /** To be called when the request is answered. Once it is decided its verdicts say all that the note could. */
  close: (isDecided: boolean) => void
}

export type RequestNotes = {
  /** To be called before a request's batches are published. */
  open: (request: NotedRequest) => Note
  /** Saves the notes of requests that have waited for a while: in Postgres any edge can look them up. */
  tick: () => Promise<void>
}

type OpenNote = { request: NotedRequest; since: number; isSaved: boolean; isOver: boolean; isStale: boolean }

// Most requests are answered long before this, and cost Postgres nothing.
const saveAfter = 1_000
const tryEvery = 1_000
const mostAtOnce = 1_000
// How many requests that were answered without a verdict are remembered while Postgres is away.
const mostRemembered = 10_000

export const createRequestNotes = (deps: {
  saveRequests: (requests: readonly NotedRequest[]) => Promise<Set<string>>
  now: () => number
  log: Log
}): RequestNotes => {
  const { saveRequests, now, log } = deps
  const entries = new Set<OpenNote>()
  let isSaving = false
  let failedAt = Number.NEGATIVE_INFINITY

  const save = async (chosen: readonly OpenNote[]): Promise<Set<string>> => {
    const requests = chosen.map(({ request }) => ({ ...request }))
    const saved = await saveRequests(requests)
    chosen.forEach((entry, i) => {
      entry.isSaved = true
      // `written` may have been called meanwhile.
      entry.isStale = entry.request.written !== requests[i]?.written
    })
    return saved
  }

  const isDue = ({ isStale, isSaved, isOver, since }: OpenNote): boolean =>
    isStale && (isSaved || isOver || now() - since >= saveAfter)

  const forgetFinished = (): void => {
    for (const entry of entries) {
      const isFinished = entry.isOver && !entry.isStale && entry.request.written !== null
      if (isFinished || now() - entry.since > publishedWithin) entries.delete(entry)
    }
  }

  return {
    open: (request) => {
      const entry: OpenNote = { request, since: now(), isSaved: false, isOver: false, isStale: true }
      entries.add(entry)
      return {
        save: async () => {
          // Taken out first: where saving fails nothing of the request is published, and no later tick must save it.
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
      // One statement can take a request once only: of two with one key the second has its turn at the next tick.
      const due = new Map<string, OpenNote>()
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

/** Deletes notes of old requests, now and then. */
export const startPruning = (deps: {
  config: Pick<EdgeConfig, 'REQUEST_RETENTION_HOURS' | 'PRUNE_EVERY_SECONDS'>
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
