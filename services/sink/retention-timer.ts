import { type RetentionConfig, rejectionsBefore } from '#ledger/cutoffs.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import type { Metrics } from '#platform/health/metrics.js'
import { periodically } from '#platform/process/periodically.js'
import { pruneRejections } from './retention.js'

/** Prunes the rejections by the hour; most hours there is nothing to do, since whole days go. */
export const startRetention = (deps: {
  config: Pick<RetentionConfig, 'REJECTION_RETENTION_DAYS' | 'PRUNE_EVERY_SECONDS'>
  clickhouse: ClickHouse
  metrics: Metrics
  log: Log
}): { stop: () => Promise<void> } => {
  const { config, clickhouse, log } = deps
  const pruned = deps.metrics.counter('pruned_total', 'Rejections that were too old and are gone.')
  return periodically({
    name: 'retention',
    everyMs: config.PRUNE_EVERY_SECONDS * 1000,
    work: async (signal) => {
      const before = rejectionsBefore(Date.now(), config)
      const rejections = await pruneRejections(clickhouse, before, { signal, onDay: ({ rows }) => pruned.inc(rows) })
      if (rejections > 0) log.info({ rejections, before }, 'pruned')
    },
    log,
  })
}
