import { historyBefore, type RetentionConfig, rejectionsBefore } from '#ledger/retention.js'
import type { Log } from '#platform/health/log.js'
import type { Metrics } from '#platform/health/metrics.js'
import { periodically } from '#platform/process/periodically.js'
import type { Destination } from '#tables/destination.js'
import { createPrunedCount } from './figures.js'

/** Prunes rejections, records that waited and old versions by the hour. Most hours there is nothing to do: all go by whole days. */
export const startRetention = (deps: {
  config: Pick<RetentionConfig, 'REJECTION_RETENTION_DAYS' | 'HISTORY_DAYS' | 'PRUNE_EVERY_SECONDS'>
  destination: Pick<Destination, 'prune' | 'time'>
  metrics: Metrics
  log: Log
}): { stop: () => Promise<void> } => {
  const { config, destination, log } = deps
  const pruned = createPrunedCount(deps.metrics)
  // To look for old versions is to read every log table, so it is done once for each day.
  let historyDone: Date | undefined
  return periodically({
    name: 'retention',
    everyMs: config.PRUNE_EVERY_SECONDS * 1000,
    work: async (signal) => {
      const options = { signal, onRows: (rows: number) => pruned.inc(rows) }
      // A host whose clock is ahead would delete too soon.
      const now = await destination.time()
      const before = rejectionsBefore(now, config)
      const { rejections, waiting_rows: waiting } = await destination.prune({ rejections: before }, options)
      if (rejections + waiting > 0) log.info({ rejections, waiting, before }, 'pruned')

      const history = historyBefore(now, config)
      if (!history || history.getTime() === historyDone?.getTime()) return
      const { versions } = await destination.prune({ history }, options)
      historyDone = history
      if (versions > 0) log.info({ versions, before: history }, 'pruned')
    },
    log,
  })
}
