import * as ledger from '#ledger/retention.js'
import type { Log } from '#platform/health/log.js'
import type { Metrics } from '#platform/health/metrics.js'
import type { Committed } from '#platform/kafka/committed-offsets.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { timeOf } from '#platform/postgres/rows.js'
import { periodically } from '#platform/process/periodically.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { rejectedTopic } from '#schemas/derive/names.js'
import { retentionOf } from '#schemas/derive/topics.js'
import { createPrunedCount } from './figures.js'

/** Deletes verdicts, keyed interactions, retries and audit rows that are too old, every PRUNE_EVERY_SECONDS. */
export const startRetention = (deps: {
  config: ledger.RetentionConfig
  catalogue: Catalogue
  pool: Pool
  committed: () => Promise<readonly Committed[]>
  metrics: Metrics
  log: Log
}): { stop: () => Promise<void> } => {
  const { config, pool, committed, log } = deps
  const pruned = createPrunedCount(deps.metrics)
  const retention = ledger.createRetention({ pool, committed, onStep: (what, count) => pruned.inc({ what }, count) })
  const topicRetention = retentionOf(deps.catalogue, rejectedTopic)

  return periodically({
    name: 'retention',
    everyMs: config.PRUNE_EVERY_SECONDS * 1000,
    work: async (signal) => {
      // A host whose clock is ahead would forget too soon.
      const now = await timeOf(pool)
      const verdicts = ledger.verdictsBefore(now, config)
      const before = {
        verdicts,
        interactionVerdicts: ledger.interactionVerdictsBefore(now, verdicts),
        retries: ledger.retriesBefore(ledger.rejectionsBefore(now, config), now, topicRetention),
        audit: ledger.auditBefore(now, config),
      }
      const counts = await retention.prune(before, signal)
      if (Object.values(counts).some((count) => count > 0)) log.info({ ...counts, before }, 'pruned')
    },
    log,
  })
}
