import { countDecided, findDecidedSince, findLastAccepted } from '#ledger/latest/activity.js'
import { listDecidedRequests, listPendingRequests } from '#ledger/latest/requests.js'
import { createClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { abandonAfter, createPool, endPool } from '#platform/postgres/postgres.js'
import type { Trust } from '#platform/process/access.js'
import type { OnStop } from '#platform/process/lifecycle.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { VerdictEvent } from '#schemas/events.js'
import type { AppDeps } from '../edge/app.js'
import { createFindJourney } from './journey/find-journey.js'
import { createFindOffsets } from './journey/find-offsets.js'
import { createActivity } from './live/activity.js'
import { createOperatorActions } from './operators/actions.js'
import { boundedReader, createReads } from './reads.js'

// What is counted one by one when somebody begins to watch: ten seconds of an organisation's batches.
const mostRecent = 20_000

/**
 * Opens what the console's interfaces read from, with connections of its own: whoever looks much keeps nobody from uploading.
 */
export const openQuery = (
  deps: {
    catalogue: Catalogue
    access: { postgres: string; clickhouse: Trust & { url: string } }
    kafka: Kafka
    decoders: Pick<Registry, 'decoder'>
    layout: () => Layout
    now: () => number
    log: Log
  },
  onStop: OnStop,
): {
  sources: Pick<AppDeps, 'activity' | 'requestLists' | 'lastAccepted' | 'findJourney' | 'operators' | 'consoleReads'>
  /** To be called with each verdict. */
  note: (verdict: VerdictEvent) => void
  /** For a stop, which a Postgres that hangs must not hold up. */
  abandonAfter: (ms: number) => void
} => {
  const { access, catalogue } = deps
  const pool = createPool(access.postgres, deps.log, 4, { queryTimeout: 5_000 })
  onStop('postgres for looking', () => endPool(pool))
  const clickhouse = createClickHouse(access.clickhouse.url, { ...access.clickhouse, requestTimeout: 10_000 })
  onStop('clickhouse for looking', clickhouse.close)
  const types = [...catalogue.all.keys()]
  const activity = createActivity({
    history: {
      count: (orgId, stretch) => countDecided(pool, { orgId, types, ...stretch }),
      since: (orgId, since) => findDecidedSince(pool, { orgId, types, since, most: mostRecent }),
    },
    interactionType: catalogue.interaction.type,
    now: deps.now,
  })
  return {
    sources: {
      activity,
      requestLists: {
        decided: (asked) => listDecidedRequests(pool, asked),
        pending: (asked) => listPendingRequests(pool, asked),
      },
      lastAccepted: (orgId) => findLastAccepted(pool, orgId, types),
      findJourney: createFindJourney({
        ...deps,
        clickhouse: boundedReader(clickhouse),
        pool,
        findOffsets: createFindOffsets(deps),
      }),
      operators: createOperatorActions(pool),
      consoleReads: createReads(undefined, 'this'),
    },
    note: activity.note,
    abandonAfter: (ms) => abandonAfter(ms, pool),
  }
}
