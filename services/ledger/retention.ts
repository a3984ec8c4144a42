import type { Committed } from '#platform/kafka/committed-offsets.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { inSteps } from '#platform/process/periodically.js'
import { holdCursor, markPruned } from './cursors.js'
import { countPrunableKeyed, pruneKeyedInteractions } from './keyed-interactions.js'
import { countPrunableRetries, pruneRetries } from './retries.js'
import { countPrunableVerdicts, pruneVerdicts } from './verdicts.js'

export type Prunable = 'verdicts' | 'keyed_interactions' | 'retries'
export type Counts = Record<Prunable, number>

/** What is pruned: verdicts and keyed interactions last used before a moment, and retries of rejections from before one. */
export type Cutoffs = { verdicts?: Date | undefined; retries?: Date | undefined }

export type Retention = {
  count: (before: Cutoffs) => Promise<Counts>
  prune: (before: Cutoffs, signal?: AbortSignal) => Promise<Counts>
}

/**
 * Deletes what is too old, in short steps, so that no decision waits long. Several processes may do so at once and share
 * the work.
 */
export const createRetention = (deps: {
  pool: Pool
  /** Only verdicts whose events are published may go: until then the events can be made from the verdict alone. */
  committed: () => Promise<readonly Committed[]>
  onStep?: (what: Prunable, count: number) => void
  steps?: { most?: number; pauseMs?: number }
}): Retention => {
  const { pool, onStep } = deps
  const prune = (what: Prunable, step: (most: number) => Promise<number>, signal?: AbortSignal): Promise<number> =>
    inSteps(step, { ...deps.steps, signal, onStep: (count) => onStep?.(what, count) })

  // With the cursor locked, as integrity locks it: a batch that comes again right now either finds its verdict and renews
  // it,
  // or comes after the pruning.
  const verdictsOf = (partition: Committed, before: Date, most: number): Promise<number> =>
    inTransaction(pool, async (connection) => {
      if (!(await holdCursor(connection, partition.topic, partition.partition))) return 0
      const { count, lastUsed } = await pruneVerdicts(connection, partition, before, most)
      if (lastUsed) await markPruned(connection, partition.topic, partition.partition, lastUsed)
      return count
    })

  return {
    count: async ({ verdicts, retries }) => ({
      verdicts: verdicts ? await countPrunableVerdicts(pool, await deps.committed(), verdicts) : 0,
      keyed_interactions: verdicts ? await countPrunableKeyed(pool, verdicts) : 0,
      retries: retries ? await countPrunableRetries(pool, retries) : 0,
    }),
    prune: async ({ verdicts, retries }, signal) => {
      const pruned: Counts = { verdicts: 0, keyed_interactions: 0, retries: 0 }
      if (verdicts) {
        for (const partition of await deps.committed()) {
          pruned.verdicts += await prune('verdicts', (most) => verdictsOf(partition, verdicts, most), signal)
        }
        const keyed = (most: number) => pruneKeyedInteractions(pool, verdicts, most)
        pruned.keyed_interactions = await prune('keyed_interactions', keyed, signal)
      }
      if (retries) pruned.retries = await prune('retries', (most) => pruneRetries(pool, retries, most), signal)
      return pruned
    },
  }
}
