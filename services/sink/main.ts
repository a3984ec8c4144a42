// accepted and rejected events → ClickHouse, in large blocks, offsets after the insert.

import { setMaxListeners } from 'node:events'
import { createClickHouse } from '#platform/clickhouse.js'
import { checkWithinForPeers, createReadiness, startHealthServer } from '#platform/health/health.js'
import { createLog } from '#platform/health/log.js'
import { createMetrics } from '#platform/health/metrics.js'
import { createRecentFailures } from '#platform/health/recent-failures.js'
import { type Consumer, createKafka } from '#platform/kafka/kafka.js'
import { countPartitions } from '#platform/kafka/read-topics.js'
import { createSetAside } from '#platform/kafka/set-aside.js'
import { readAccess } from '#platform/process/access.js'
import { orExit, readConfigOrExit } from '#platform/process/config.js'
import { createFailAt } from '#platform/process/fail-point.js'
import { runService } from '#platform/process/lifecycle.js'
import { createPatience } from '#platform/process/patience.js'
import { createRegistry } from '#platform/registry.js'
import { openTracing } from '#platform/tracing/open-tracing.js'
import { catalogue } from '#schemas/catalogue.js'
import { rejectedSchema } from '#schemas/derive/avro.js'
import { acceptedTopic, database, rejectedTopic, subjectOf } from '#schemas/derive/names.js'
import { sinkGroupsOf } from '#schemas/derive/topics.js'
import type { RejectedEvent } from '#schemas/events.js'
import { createSetAsideMessage } from '#schemas/set-aside.js'
import { createClickHouseDestination } from '#tables/clickhouse-destination.js'
import type { Insert } from '#tables/table-writer.js'
import { configSchema } from './config.js'
import { createSinkFigures } from './figures.js'
import { createGathering } from './gathering.js'
import { createFetchHandler } from './handle-fetch.js'
import { createMartKeeper } from './keep-marts.js'
import { createSegmentKeeper } from './keep-segments.js'
import { startKeepingMarts } from './marts-at-work.js'
import { startRetention } from './retention.js'

const config = readConfigOrExit(configSchema)
const access = orExit(() => readAccess(config, ['kafka', 'registry', 'clickhouse']))
const log = createLog('sink', config.LOG_LEVEL)
const stopWaitingAfter = 4_000
// Unpacked. ClickHouse takes 9 µs for a row in blocks of 2000 rows, 6 in blocks of 5000, 3 in blocks of 20 000.
const bytesPerFetch = 8 * 1024 * 1024

await runService(log, async (onStop, crash) => {
  const metrics = createMetrics('sink')
  const figures = createSinkFigures(metrics)
  const registry = createRegistry(access.registry.url, access.registry)
  // Cuts off what ClickHouse has not answered when the service has waited long enough for its stop.
  const late = new AbortController()
  // Each insert adds a listener, and as many are under way as there are tables: Node would warn of more than ten.
  setMaxListeners(0, late.signal)
  const clickhouse = createClickHouse(access.clickhouse.url, { ...access.clickhouse, signal: late.signal })
  onStop('clickhouse', clickhouse.close)
  // To make a mart of a large organisation anew takes as long as it takes; a stop does not wait for it.
  const martsEnd = new AbortController()
  const patientClickHouse = createClickHouse(access.clickhouse.url, {
    ...access.clickhouse,
    signal: martsEnd.signal,
    requestTimeout: 600_000,
    maxConnections: 4,
  })
  onStop('clickhouse for marts', patientClickHouse.close)
  const failAt = createFailAt(config)
  const tracing = await openTracing(config, { name: 'weir-sink', log })
  onStop('traces', tracing.close)
  const insert: Insert = async (table, container, rows) => {
    const began = performance.now()
    await clickhouse.insertAvro(table, container)
    const name = table.slice(database.length + 1)
    figures.inserted(name, rows, container.length, (performance.now() - began) / 1000)
    failAt('after-clickhouse-insert')
  }
  const destination = createClickHouseDestination({ catalogue, clickhouse, insert, onFailed: figures.failed })

  const patience = createPatience(log)
  const consumers: Consumer[] = []
  const fetches = createRecentFailures((place, reason) => `rows of ${place} cannot be inserted: ${reason}`)
  const readiness = createReadiness(
    {
      kafka: () => {
        patience.check('kafka')
        if (consumers.length < 2) throw new Error('not consuming yet')
        for (const { check } of consumers) check()
      },
      clickhouse: destination.ping,
      inserts: fetches.check,
      // Needed for the start only: from then on the schemas are known.
      registry: () => patience.check('registry'),
    },
    checkWithinForPeers,
  )
  const server = await startHealthServer({ host: config.SINK_HOST, port: config.SINK_PORT, readiness, metrics })
  onStop('health server', server.close)

  const kafka = createKafka({ ...access.kafka, clientId: 'weir-sink', log })
  const producer = await patience.until('kafka', kafka.createProducer)
  onStop('producer', producer.close)
  const feeds = await patience.until('registry', () => destination.openFeeds(registry))
  const encodeRejected = await registry.encoder<RejectedEvent>(subjectOf(rejectedTopic), rejectedSchema())
  const counts = await patience.until('kafka', () => countPartitions(kafka, [rejectedTopic]))
  const setAside = createSetAside({
    producer,
    topic: rejectedTopic,
    partitions: counts.get(rejectedTopic) ?? 1,
    toMessage: createSetAsideMessage(encodeRejected),
    metrics,
    log,
  })

  const handleFetch = createFetchHandler({ feeds, setAside, figures, tracing })
  // Of all sinks, the one that has this partition keeps the marts.
  const led = { topic: acceptedTopic('transactions'), partition: 0 }
  let isLeading = false
  const consume = async (groupId: string, topics: string[]) => {
    const gathering = createGathering(config.SINK_GATHER_MS)
    const consumer = await kafka.consume({
      groupId,
      topics,
      fromBeginning: true,
      // All partitions of a fetch at once: only then can the table writer join them into one insert.
      partitionsAtOnce: 256,
      bytesPerFetch,
      gatherBytes: config.SINK_GATHER_BYTES,
      gatherMs: gathering.ms,
      mostGatherMs: gathering.mostMs,
      onFetch: (fetch) => gathering.watch(() => fetches.watch(fetch, () => handleFetch(fetch))),
      onAssigned: (assigned) => {
        figures.assigned(topics, assigned)
        if (topics.includes(led.topic))
          isLeading = assigned.some(({ topic, partition }) => topic === led.topic && partition === led.partition)
      },
      crash,
    })
    consumers.push(consumer)
  }
  onStop('consumers', () => Promise.all(consumers.map(({ close }) => close())))
  for (const { groupId, topics } of Object.values(sinkGroupsOf(catalogue))) await consume(groupId, topics)
  // Released before the consumers: an insert that hangs is given up, and its offsets stay uncommitted.
  onStop('hanging inserts', () => {
    setTimeout(() => late.abort(), stopWaitingAfter).unref()
  })

  const retention = startRetention({ config, destination, metrics, log })
  onStop('retention', retention.stop)

  const keeper = createMartKeeper(patientClickHouse, catalogue, config.MARTS_KEPT_FROM)
  const segments = createSegmentKeeper(patientClickHouse)
  const keeping = startKeepingMarts({ keeper, segments, isLeading: () => isLeading, metrics, log })
  onStop('marts', () => {
    martsEnd.abort()
    return keeping.stop()
  })
})
