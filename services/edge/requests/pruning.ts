import { pruneRequests } from '#ledger/requests.js'
import type { Log } from '#platform/health/log.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { inSteps, periodically } from '#platform/process/periodically.js'
import type { Config } from '../config.js'

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
