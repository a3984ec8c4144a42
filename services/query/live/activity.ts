import { LRUCache } from 'lru-cache'
import type { DecidedBatch, DecidedCount } from '#ledger/latest/activity.js'
import type { VerdictEvent } from '#schemas/events.js'

/** What was decided in a bucket of five seconds. */
export type BucketCounts = { accepted: number; refused: number; waiting: number; interactions: number }

/** One organisation's last 15 minutes, for as long as somebody watches. */
export type Watch = Awaited<ReturnType<Activity['watch']>>
export type Activity = ReturnType<typeof createActivity>

/** What the stored verdicts tell. */
export type DecidedHistory = {
  count: (orgId: string, stretch: { from: Date; until: Date; seconds: number }) => Promise<DecidedCount[]>
  since: (orgId: string, since: Date) => Promise<DecidedBatch[]>
}

export const bucketSeconds = 5
export const bucketMs = bucketSeconds * 1000
/** 15 minutes. */
export const bucketsShown = 180
// A verdict of the last seconds may be in Postgres, on the topic or in both: their batches keep them apart.
const overlap = 10_000

type Watched = { buckets: Map<number, BucketCounts>; watchers: number; liveSince: number; ready: Promise<void> }

/** Counts verdicts for organisations that are watched; what was decided before comes from the stored verdicts. */
export const createActivity = (deps: {
  history: DecidedHistory
  interactionType: string
  /** How many batches are remembered; room for all of them is taken at once. */
  mostCounted?: number
  now: () => number
}) => {
  const { history, now } = deps
  const watched = new Map<string, Watched>()
  // A verdict is published again when its batch comes again, and counts once.
  const counted = new LRUCache<string, true>({ max: deps.mostCounted ?? 50_000 })

  const add = ({ buckets }: Watched, decided: CountedBatch): void => {
    const bucket = bucketOf(decided.at)
    if (bucket < bucketOf(now()) - bucketsShown * bucketMs) return
    const sum = buckets.get(bucket) ?? { ...nothing }
    if (decided.type === deps.interactionType) sum.interactions += decided.accepted
    else sum.accepted += decided.accepted
    sum.refused += decided.refused
    sum.waiting += decided.waiting
    buckets.set(bucket, sum)
  }

  const addOnce = (own: Watched, batchId: string, decided: CountedBatch): void => {
    if (counted.has(batchId)) return
    counted.set(batchId, true)
    add(own, decided)
  }

  const load = async (orgId: string, own: Watched): Promise<void> => {
    const until = new Date(own.liveSince)
    const from = new Date(bucketOf(now()) - (bucketsShown - 1) * bucketMs)
    for (const { at, ...counts } of await history.count(orgId, { from, until, seconds: bucketSeconds }))
      add(own, { ...counts, at: at.getTime() })
    for (const { batchId, at, ...counts } of await history.since(orgId, until))
      addOnce(own, batchId, { ...counts, at: at.getTime() })
  }

  const begin = (orgId: string): Watched => {
    const own: Watched = {
      buckets: new Map(),
      watchers: 0,
      liveSince: now() - overlap,
      ready: Promise.resolve(),
    }
    watched.set(orgId, own)
    own.ready = load(orgId, own)
    // The next watch tries again.
    own.ready.catch(() => watched.get(orgId) === own && watched.delete(orgId))
    return own
  }

  /** What is older than the 15 minutes goes. */
  const forget = ({ buckets }: Watched): void => {
    const oldest = bucketOf(now()) - bucketsShown * bucketMs
    for (const bucket of buckets.keys()) if (bucket < oldest) buckets.delete(bucket)
  }

  return {
    /** To be called with each verdict; costs nothing for organisations that are not watched. */
    note: (verdict: VerdictEvent): void => {
      const own = watched.get(verdict.org_id)
      // An older one was counted by the history, or was published again.
      if (!own || verdict.decided_at < own.liveSince) return
      addOnce(own, verdict.batch_id, {
        at: verdict.decided_at,
        type: verdict.type,
        accepted: verdict.accepted,
        refused: verdict.refused.length,
        waiting: begunToWaitIn(verdict),
      })
      forget(own)
    },
    /** Resolves once the history is there. */
    watch: async (orgId: string) => {
      const own = watched.get(orgId) ?? begin(orgId)
      own.watchers++
      let hasLeft = false
      const leave = (): void => {
        if (hasLeft) return
        hasLeft = true
        own.watchers--
        if (own.watchers === 0 && watched.get(orgId) === own) watched.delete(orgId)
      }
      try {
        await own.ready
      } catch (error) {
        leave()
        throw error
      }
      return {
        /** The start of the bucket that is under way, in milliseconds. */
        current: () => bucketOf(now()),
        /** What was decided in the bucket that began then. */
        at: (bucket: number): BucketCounts => own.buckets.get(bucket) ?? nothing,
        leave,
      }
    },
  }
}

type CountedBatch = Omit<DecidedCount, 'at'> & { at: number }

const nothing: BucketCounts = { accepted: 0, refused: 0, waiting: 0, interactions: 0 }

const bucketOf = (time: number): number => Math.floor(time / bucketMs) * bucketMs

/** How many records of the batch began to wait; those of a batch that is decided anew, a request by itself, waited before. */
const begunToWaitIn = ({ batch_id, request_id, waiting = [] }: VerdictEvent): number =>
  request_id === batch_id ? 0 : waiting.length
