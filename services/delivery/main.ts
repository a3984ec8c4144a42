// verdicts → what the organisation's webhooks are told of, read from the log, sent and tried again until it is taken.

import { createFeed } from '#feeds/feed.js'
import { createReadLog } from '#feeds/read-log.js'
import { createReadRemoved } from '#feeds/read-removed.js'
import { createReadTables } from '#feeds/read-tables.js'
import { createReadRefused, createReadVerdicts } from '#feeds/read-verdicts.js'
import { createFindStored } from '#feeds/stored.js'
import { findGenerations } from '#ledger/layout/layout.js'
import { findCompleted } from '#ledger/requests.js'
import { countPending, pruneDeliveries } from '#ledger/webhooks/deliveries.js'
import { wakeQueues } from '#ledger/webhooks/queues.js'
import { countWebhooks } from '#ledger/webhooks/webhooks.js'
import { startRemoving } from '#persons/remove/start.js'
import { boundedReader, createClickHouse } from '#platform/clickhouse.js'
import { checkWithinForPeers, createReadiness, startHealthServer } from '#platform/health/health.js'
import { createLog } from '#platform/health/log.js'
import { createMetrics } from '#platform/health/metrics.js'
import { type Consumer, createKafka, type Fetch } from '#platform/kafka/kafka.js'
import { createReach } from '#platform/outgoing/addresses.js'
import { createPost } from '#platform/outgoing/post.js'
import { abandonAfter, createPool, endPool, ping } from '#platform/postgres/postgres.js'
import { readAccess } from '#platform/process/access.js'
import { orExit, readConfigOrExit } from '#platform/process/config.js'
import { runService } from '#platform/process/lifecycle.js'
import { createPatience } from '#platform/process/patience.js'
import { inSteps, periodically } from '#platform/process/periodically.js'
import { createTurnstile } from '#platform/process/turnstile.js'
import { createRegistry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { verdictSchema } from '#schemas/derive/avro.js'
import { deliveryGroup, verdictsTopic } from '#schemas/derive/names.js'
import type { VerdictEvent } from '#schemas/events.js'
import { createAcceptedPages } from './accepted-page.js'
import { configSchema } from './config.js'
import { createDecidedPages } from './decided-pages.js'
import { createDeliveryFigures } from './figures.js'
import { keepWorking } from './keep-working.js'
import { createWork } from './work.js'

const config = readConfigOrExit(configSchema)
const access = orExit(() => readAccess(config, ['kafka', 'registry', 'postgres', 'clickhouse']))
const reach = orExit(() => createReach(config.WEBHOOK_ALLOW))
const log = createLog('delivery', config.LOG_LEVEL)
const stopWaitingAfter = 5_000
// Each may unpack 8 MiB of batches.
const readsAtOnce = 4
const lookAtFiguresEvery = 15_000

await runService(log, async (onStop, crash) => {
  const metrics = createMetrics('delivery')
  const figures = createDeliveryFigures(metrics)
  const pool = createPool(access.postgres, log, 8, { queryTimeout: 10_000 })
  onStop('postgres', () => endPool(pool))
  const clickhouse = createClickHouse(access.clickhouse.url, { ...access.clickhouse, requestTimeout: 10_000 })
  onStop('clickhouse', clickhouse.close)
  const registry = createRegistry(access.registry.url, access.registry)
  const patience = createPatience(log)
  const kafka = createKafka({ ...access.kafka, clientId: 'weir-delivery', log })
  const reader = kafka.createLogReader()
  onStop('log', reader.close)

  const generations = () => findGenerations(pool)
  const readRemoved = createReadRemoved({ pool, clickhouse: boundedReader(clickhouse), findGenerations: generations })
  const readLog = createReadLog({ pool, log: reader, decoders: registry, findGenerations: generations, readRemoved })
  const feed = createFeed({
    ...{ pool, findGenerations: generations, readLog },
    readTables: createReadTables(boundedReader(clickhouse)),
    findStored: createFindStored({ catalogue, kafka, findGenerations: generations }),
  })
  const accepted = createAcceptedPages({ feed, readLog, catalogue, log })
  const decided = createDecidedPages({
    ...{ feed, catalogue, log },
    readVerdicts: createReadVerdicts({ pool, findGenerations: generations }),
    readRefused: createReadRefused({ log: reader, decoders: registry }),
    findCompleted: (org, requestIds) => findCompleted(pool, org, requestIds),
  })
  const inTurn = createTurnstile(readsAtOnce)
  const work = createWork({
    pool,
    post: createPost(reach),
    makeNext: (event, queue) =>
      inTurn(() => (event === 'records.accepted' ? accepted.next(queue) : decided(event, queue))),
    again: (...asked) => inTurn(() => accepted.again(...asked)),
    giveUpAfterMs: config.WEBHOOK_GIVE_UP_HOURS * 3_600_000,
    digestEverySeconds: config.WEBHOOK_DIGEST_SECONDS,
    figures,
    log,
  })
  const working = keepWorking({ ...work, log })

  let consumer: Consumer | undefined
  const readiness = createReadiness(
    {
      kafka: () => {
        patience.check('kafka')
        if (!consumer) throw new Error('not consuming yet')
        consumer.check()
      },
      postgres: () => ping(pool),
      webhooks: working.check,
    },
    checkWithinForPeers,
  )
  const server = await startHealthServer({ host: config.DELIVERY_HOST, port: config.DELIVERY_PORT, readiness, metrics })
  onStop('health server', server.close)

  const decode = registry.decoder<VerdictEvent>(verdictSchema())
  const onFetch = async ({ messages }: Fetch): Promise<void> => {
    const orgs = new Set<string>()
    for (const { value } of messages) if (value) orgs.add((await decode(value)).org_id)
    if (orgs.size > 0 && (await wakeQueues(pool, [...orgs])) > 0) await working.look()
  }
  onStop('what removes records', startRemoving({ access, logLevel: config.LOG_LEVEL }, log).stop)
  // Registered before the consumer, and so stopped after it: what it hears of is not lost, since it commits only what was noted.
  onStop('deliveries', working.stop)
  // Whatever was decided while nobody listened, for longer than verdicts are kept on their topic.
  await patience.until('postgres', () => wakeQueues(pool, null))
  consumer = await patience.until('kafka', () =>
    kafka.consume({
      groupId: deliveryGroup,
      topics: [verdictsTopic],
      fromBeginning: true,
      partitionsAtOnce: 8,
      onFetch,
      crash,
    }),
  )
  onStop('consumer', consumer.close)
  await working.look()

  const pruning = periodically({
    name: 'delivery log',
    everyMs: config.PRUNE_EVERY_SECONDS * 1000,
    work: async (signal) => {
      const days = config.WEBHOOK_LOG_RETENTION_DAYS
      await inSteps((most) => pruneDeliveries(pool, days, most), { signal })
    },
    log,
  })
  onStop('pruning', pruning.stop)
  const looking = periodically({
    name: 'figures',
    everyMs: lookAtFiguresEvery,
    work: async () => {
      const [webhooks, pending] = await Promise.all([countWebhooks(pool), countPending(pool)])
      figures.seen({ webhooks, ...pending, underWay: working.underWay() })
    },
    log,
  })
  onStop('figures', looking.stop)
  onStop('hanging statements', () => abandonAfter(stopWaitingAfter, pool))
})
