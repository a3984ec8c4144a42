import { createClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import { abandonAfter, createPool, endPool } from '#platform/postgres/postgres.js'
import type { Trust } from '#platform/process/access.js'
import type { OnStop } from '#platform/process/lifecycle.js'
import { boundedReader, createReads } from '#query/reads.js'
import { createOwnRejections } from '#query/rejections/rejections.js'
import type { RejectionDeps } from '#query/rejections/route.js'
import type { EdgeConfig } from '../config.js'
import { createGather } from '../interactions/gather.js'
import type { Load } from '../limits/load.js'
import { createSubmitAgain, type SubmitAgainDeps } from './submit-again.js'
import { createRetryWork } from './work.js'

const lookEvery = 2_000

/**
 * Opens what the routes about rejections need, with connections of its own: whoever asks much about rejections keeps nobody from
 * uploading, or from reading interactions. From then on this edge submits what is ordered, at whatever edge or by an operator.
 */
export const openRejections = (
  deps: Omit<SubmitAgainDeps, 'gather' | 'batchLimits'> & {
    config: Pick<EdgeConfig, 'BATCH_RECORDS' | 'BATCH_BYTES' | 'INTERACTION_GATHER_MS'>
    access: { postgres: string; clickhouse: Trust & { url: string } }
    load: Load
    isLagging: (type: string, orgId: string) => boolean
    log: Log
  },
  onStop: OnStop,
): Pick<RejectionDeps, 'rejections' | 'reads'> & {
  /** For a stop, which a Postgres that hangs must not hold up: what is not done by then another edge does. */
  abandonAfter: (ms: number) => void
} => {
  const { access, catalogue, config, load, log } = deps
  const pool = createPool(access.postgres, log, 6, { queryTimeout: 5_000 })
  onStop('postgres for rejections', () => endPool(pool))
  const clickhouse = createClickHouse(access.clickhouse.url, { ...access.clickhouse, requestTimeout: 10_000 })
  onStop('clickhouse for rejections', clickhouse.close)
  const sources = { pool, clickhouse: boundedReader(clickhouse), catalogue }
  const batchLimits = { records: config.BATCH_RECORDS, bytes: config.BATCH_BYTES }
  const sendLater = (send: () => void) => setTimeout(send, config.INTERACTION_GATHER_MS)
  const gather = createGather({ ...deps, batchLimits, sendLater, type: catalogue.interaction.type })
  const work = createRetryWork({
    ...sources,
    submit: createSubmitAgain({ ...deps, batchLimits, gather }),
    // As for an upload: not while integrity is behind with this type, nor where memory has no room.
    admit: (orgId, type, bytes) => {
      const hold = deps.isLagging(type, orgId) ? undefined : load.hold(orgId, bytes)
      return hold?.growTo(bytes) ? hold.release : undefined
    },
    log,
  })
  onStop('retries', work.stop)
  const timer = setInterval(work.tick, lookEvery)
  onStop('timer of retries', () => clearInterval(timer))
  return {
    rejections: createOwnRejections(sources, work.tick),
    reads: createReads(),
    abandonAfter: (ms) => abandonAfter(ms, pool),
  }
}
