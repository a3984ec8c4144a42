import { boundedReader, type ClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import { abandonAfter, createPool, endPool } from '#platform/postgres/postgres.js'
import type { OnStop } from '#platform/process/lifecycle.js'
import type { EdgeConfig } from '../config.js'
import { createGather } from '../interactions/gather.js'
import type { Lag } from '../limits/lag.js'
import type { Load } from '../limits/load.js'
import { createSubmitAgain, type SubmitAgainDeps } from './submit-again.js'
import { createRetryWork, orgsAtOnce, type RetryWork } from './work.js'

const lookEvery = 2_000

/** From now on this edge submits the rejections that were ordered to be, at any edge or by an operator. */
export const openRetries = (
  deps: Omit<SubmitAgainDeps, 'gather' | 'batchLimits'> & {
    config: Pick<EdgeConfig, 'BATCH_RECORDS' | 'BATCH_BYTES' | 'INTERACTION_GATHER_MS'>
    access: { postgres: string }
    clickhouse: Pick<ClickHouse, 'query'>
    load: Load
    lag: Lag
    log: Log
  },
  onStop: OnStop,
): Pick<RetryWork, 'tick'> & {
  /** For a stop, which a Postgres that hangs must not hold up: what is not done by then another edge does. */
  abandonAfter: (ms: number) => void
} => {
  const { catalogue, config, load, log } = deps
  // Not the pool of uploads: the lock of each organisation under way holds a connection until its verdicts are there, and up to 200
  // answered interactions are noted at once, by the two connections that are left.
  const pool = createPool(deps.access.postgres, log, orgsAtOnce + 2, { queryTimeout: 5_000 })
  onStop('postgres of retries', () => endPool(pool))
  const batchLimits = { records: config.BATCH_RECORDS, bytes: config.BATCH_BYTES }
  const sendLater = (send: () => void) => setTimeout(send, config.INTERACTION_GATHER_MS)
  const gather = createGather({ ...deps, batchLimits, sendLater, type: catalogue.interaction.type })
  const work = createRetryWork({
    pool,
    clickhouse: boundedReader(deps.clickhouse),
    catalogue,
    submit: createSubmitAgain({ ...deps, batchLimits, gather }),
    // As for an upload: not while integrity is behind with this type, nor where memory has no room.
    admit: (orgId, type, bytes) => {
      const hold = deps.lag.isLagging(type, orgId) ? undefined : load.hold(orgId, bytes)
      return hold?.growTo(bytes) ? hold.release : undefined
    },
    log,
  })
  onStop('retries', work.stop)
  const timer = setInterval(work.tick, lookEvery)
  onStop('timer of retries', () => clearInterval(timer))
  return { tick: work.tick, abandonAfter: (ms) => abandonAfter(ms, pool) }
}
