// HTTP requests → validated, cut into batches, published as submitted events → answered with their verdicts.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findCursors } from '#ledger/cursors.js'
import { createGateMemory } from '#ledger/erasures/gate-memory.js'
import { findKey, touchKeys } from '#ledger/keys.js'
import { untilPartitioned, untilProvisioned } from '#ledger/layout/check-layout.js'
import { findGenerations } from '#ledger/layout/layout.js'
import { addLimitHits } from '#ledger/organisations.js'
import { boundedReader, createClickHouse } from '#platform/clickhouse.js'
import { createReadiness } from '#platform/health/health.js'
import { createLog } from '#platform/health/log.js'
import { createMetrics, joinMetrics, withoutOrganisations } from '#platform/health/metrics.js'
import { readPeers } from '#platform/health/peers.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import { createReach } from '#platform/outgoing/addresses.js'
import { listen } from '#platform/postgres/listen.js'
import { abandonAfter, createPool, endPool, ping } from '#platform/postgres/postgres.js'
import { readAccess } from '#platform/process/access.js'
import { orExit, readConfigOrExit } from '#platform/process/config.js'
import { createFailAt } from '#platform/process/fail-point.js'
import { runService } from '#platform/process/lifecycle.js'
import { packageRoot } from '#platform/process/package-root.js'
import { createPatience } from '#platform/process/patience.js'
import { createRegistry } from '#platform/registry.js'
import { openTracing } from '#platform/tracing/open-tracing.js'
import { openQuery } from '#query/query.js'
import { createReads } from '#query/reads.js'
import { catalogue as published } from '#schemas/catalogue.js'
import { submittedTopicsOf } from '#schemas/derive/topics.js'
import { createApp } from './app.js'
import { configSchema, openOrgOf, operationsPortOf, withLimits } from './config.js'
import { createFigures } from './figures.js'
import { readDownloads } from './http/downloads.js'
import { createOperationsApp, peerChecks, readPeerMetrics, shareHealth } from './http/health.js'
import { importBoundsOf } from './imports/bounds.js'
import { createCheckKeys, createFindCaller } from './keys/find-caller.js'
import { createKeyMemory } from './keys/key-memory.js'
import { createLastUse } from './keys/last-use.js'
import { createBacklog } from './limits/backlog.js'
import { createLag } from './limits/lag.js'
import { createLimitHits } from './limits/limit-hits.js'
import { boundsOf, createLoad } from './limits/load.js'
import { createRateLimits, ratesOf } from './limits/rates.js'
import { type Certificate, createRenewal, expiryOf, type TlsServer } from './network/certificate.js'
import { openNetwork } from './network/network.js'
import { createRequestNotes, startPruning } from './requests/notes.js'
import { createVerdictStore } from './requests/verdict-store.js'
import { openRetries } from './retries/retries.js'
import { createHideErased, createSubmitHidden } from './stream/hide-erased.js'
import { openStream } from './stream/stream.js'
import { createSubmit } from './stream/submit.js'
import { createVerdicts } from './stream/verdicts.js'
import { createFindKnown } from './uploads/dry-run.js'
import { createFindCurrent, createNoteMend } from './uploads/if-version.js'

const config = readConfigOrExit(configSchema)
const access = orExit(() => readAccess(config, ['kafka', 'registry', 'postgres', 'clickhouse']))
const { network, certificate } = orExit(() => openNetwork(config))
const webhookReach = orExit(() => createReach(config.WEBHOOK_ALLOW))
const log = createLog('edge', config.LOG_LEVEL)
const now = Date.now
// For how long something has lasted: the time of day may be set, forwards and back, while the edge runs.
const elapsed = () => performance.now()
// How long the edge waits for Kafka before it listens without it.
const listenAfter = 5_000
// Uploads that name the version which they replace: few at once, since uploads share their connections.
const ofCurrent = { atOnce: 4, ofOne: 1 }
// A stop may take 9 s in all; requests that wait for verdicts have this much of it.
const stopWaitingAfter = 5_000

await runService(log, async (onStop, crash) => {
  const openOrg = openOrgOf(config)
  const operationsPort = operationsPortOf(config)
  const peers = readPeers(config.PEERS)
  const catalogue = withLimits(published, config)
  const metrics = createMetrics('edge')
  const figures = createFigures(metrics)
  const every = (ms: number, work: () => Promise<void>) => {
    const timer = setInterval(work, ms)
    onStop('timer', () => clearInterval(timer))
  }

  const pool = createPool(access.postgres, log, 10, { queryTimeout: 5_000 })
  onStop('postgres', () => endPool(pool))
  const store = createVerdictStore(pool)
  const lastUse = createLastUse({ write: (keyIds) => touchKeys(pool, keyIds), now: elapsed, log })
  onStop('last use of keys', lastUse.flush)
  every(10_000, lastUse.flush)
  const memory = createKeyMemory(elapsed)
  const keyChanges = listen({ url: access.postgres, channel: 'weir_keys', ...memory.changes, log })
  onStop('key changes', keyChanges.close)

  const clickhouse = createClickHouse(access.clickhouse.url, { ...access.clickhouse, requestTimeout: 10_000 })
  onStop('clickhouse', clickhouse.close)

  const registry = createRegistry(access.registry.url, access.registry)
  const failAt = createFailAt(config)
  const tracing = await openTracing(config, { name: 'weir-edge', log })
  onStop('traces', tracing.close)
  const kafka = createKafka({
    ...access.kafka,
    clientId: 'weir-edge',
    log,
    onProduceSent: config.WEIR_FAILPOINT && (() => failAt('after-submit-sent')),
  })
  const verdicts = createVerdicts({ store, timeout: config.VERDICT_TIMEOUT_MS, now: elapsed, log })
  const patience = createPatience(log)
  const stream = openStream({
    catalogue,
    kafka,
    openLayout: () => untilProvisioned(pool, patience, config),
    findGenerations: () => findGenerations(pool),
    checkTopics: (layout) => untilPartitioned(kafka, patience, layout, submittedTopicsOf(catalogue, layout.generation)),
    registry,
    patience,
    tracing,
    failAt,
    crash,
    log,
  })
  onStop('stream', stream.close)
  stream.onVerdict(verdicts.settle)
  every(200, verdicts.tick)
  every(1_000, stream.look)
  every(1_000, async () => figures.oldestUndecided.set(verdicts.oldest() / 1000))
  const notes = createRequestNotes({ saveRequests: store.saveRequests, now: elapsed, log })
  onStop('notes of requests', notes.tick)
  every(200, notes.tick)
  onStop('pruning', startPruning({ config, pool, log }).stop)

  const backlog = createBacklog({
    stretches: async () =>
      stream.places() ? stretchesOf(kafka, submittedTopicsOf(catalogue, stream.layout().generation)) : undefined,
    cursors: () => findCursors(pool),
    now: elapsed,
    log,
  })
  every(2_000, backlog.tick)
  const lag = createLag({ places: stream.places, verdicts, backlog, most: config.MAX_LAG_MS })
  const load = createLoad(boundsOf(config), figures)
  const gates = createGateMemory(pool, log)
  await gates.look()
  every(2_000, gates.look)
  const hideErased = createHideErased(catalogue, gates)
  const submitAll = createSubmit({
    publish: stream.publish,
    // The rest is for the answer.
    publishWithin: config.VERDICT_TIMEOUT_MS - Math.min(2_000, config.VERDICT_TIMEOUT_MS / 10),
    verdicts,
    placeOf: stream.placeOf,
    count: load.count,
    figures,
    now: elapsed,
  })
  const submit = createSubmitHidden(submitAll, hideErased, gates)

  const parts = {
    kafka: stream.check,
    postgres: createCheckKeys(() => ping(pool)),
    // Uploads need the registry only until its schemas are fetched, so it is not asked again here.
    registry: () => patience.check('registry'),
  }
  // Without integrity's parts `decisions`, which is down when a single partition stands still, and `partitions`, which is down when one
  // was added: that is for the operator to see, and a load balancer that took the edge away for it would stop all other partitions too.
  const { integrity } = peerChecks(peers, ['decisions', 'partitions'])
  const forUploads = { ...parts, ...(integrity && { integrity }) }
  const kafkaWithWrites = () => {
    stream.check()
    stream.checkWrites()
  }
  const health = shareHealth({
    readiness: {
      everything: createReadiness({
        ...parts,
        kafka: kafkaWithWrites,
        registry: registry.ping,
        clickhouse: clickhouse.ping,
        ...peerChecks(peers),
      }),
      uploads: createReadiness(forUploads),
    },
    metricsText: async () => {
      const theirs = await readPeerMetrics(peers, figures)
      // Without a port for operators anybody may ask, and who else uploads here is nobody's business.
      const shown = operationsPort === undefined ? theirs.map(withoutOrganisations) : theirs
      return joinMetrics([await metrics.text(), ...shown])
    },
  })
  if (operationsPort !== undefined) {
    const operations = createOperationsApp(health)
    onStop('operations', () => operations.close())
    await operations.listen({ host: network.host, port: operationsPort })
  }
  const { layout, layoutToCut, untilSteady } = stream
  const taking = {
    catalogue,
    submit,
    store,
    notes,
    layout: layoutToCut,
    untilSteady,
    load,
    lag,
    figures,
    tracing,
    now,
    log,
  }
  const retries = openRetries({ ...taking, config, access, clickhouse }, onStop)
  const findCaller = createFindCaller({
    findKey: (hash) => findKey(pool, hash),
    memory,
    demoKey: config.WEIR_DEMO_KEY,
    noteUse: lastUse.note,
    now: elapsed,
    log,
  })
  const limitHits = createLimitHits({ write: (hits) => addLimitHits(pool, hits), log })
  onStop('limits that were met', limitHits.flush)
  every(2_000, limitHits.flush)
  const rateLimits = createRateLimits({
    defaults: ratesOf(config),
    figures,
    onLimited: limitHits.note,
    now: elapsed,
  })
  const query = openQuery(
    {
      catalogue,
      access,
      kafka,
      decoders: registry,
      encoders: registry,
      findCaller,
      rateLimits,
      readiness: health.readiness,
      lagOf: lag.lagOf,
      layout,
      forSubscribers: {
        brokers: config.SUBSCRIBER_BROKERS ?? access.kafka.brokers,
        registry: config.SUBSCRIBER_REGISTRY_URL ?? access.registry.url,
      },
      onVerdict: stream.onVerdict,
      onOrdered: retries.tick,
      systemFigures: figures.system,
      webhookReach,
      now,
      log,
    },
    onStop,
  )
  const app = createApp({
    ...taking,
    ...health,
    query,
    downloads: readDownloads(join(packageRoot, 'dist/downloads')),
    findCaller,
    rateLimits,
    shortestWait: config.MIN_WAIT_SECONDS * 1000,
    sendLater: (send, isAlone) => (isAlone ? setImmediate(send) : setTimeout(send, config.INTERACTION_GATHER_MS)),
    findKnown: createFindKnown(pool),
    hideErased,
    findCurrent: createFindCurrent(
      { pool, clickhouse: boundedReader(clickhouse), catalogue },
      createReads(undefined, 'what is current', ofCurrent),
    ),
    noteMend: createNoteMend(pool),
    batchLimits: { records: config.BATCH_RECORDS, bytes: config.BATCH_BYTES },
    bodyLimit: config.BODY_LIMIT,
    answerWithin: config.VERDICT_TIMEOUT_MS,
    openOrg,
    importBounds: importBoundsOf(config),
    network,
    certificate,
    hasOperationsPort: operationsPort !== undefined,
  })
  if (network.certificate && certificate) {
    const server = app.server as unknown as TlsServer
    const onUsed = ({ cert }: Certificate) => figures.certificateExpires.set(expiryOf(cert).getTime() / 1000)
    onUsed(certificate)
    const renew = createRenewal({ files: network.certificate, current: certificate, server, onUsed, log })
    every(1_000, async () => renew())
    process.on('SIGHUP', renew)
  }
  // Registered last, so that it is closed first: requests in flight still find everything else open.
  onStop('http', () => app.close())
  onStop('requests that wait', () => {
    setTimeout(stream.giveUp, stopWaitingAfter).unref()
    verdicts.giveUpAt(elapsed() + stopWaitingAfter)
    abandonAfter(stopWaitingAfter, pool)
    retries.abandonAfter(stopWaitingAfter)
    query.abandonAfter(stopWaitingAfter)
  })
  // Kafka is waited for first, so that clients that connect are served; if it stays away they are answered that.
  await Promise.race([stream.opened, sleep(listenAfter, undefined, { ref: false })])
  await app.listen({ host: network.host, port: config.EDGE_PORT })
})
