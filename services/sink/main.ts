// accepted and rejected events → ClickHouse, in large blocks, offsets after the insert.
import { createClickHouse } from '#platform/clickhouse.js'
import { readConfigOrExit } from '#platform/config.js'
import { createFailAt } from '#platform/fail-point.js'
import { createReadiness } from '#platform/health.js'
import { startHealthServer } from '#platform/health-server.js'
import { createKafka } from '#platform/kafka.js'
import { runService } from '#platform/lifecycle.js'
import { createLog } from '#platform/log.js'
import { createMetrics } from '#platform/metrics.js'
import { createRegistry } from '#platform/registry.js'
import { createSetAside } from '#platform/set-aside.js'
import type { Insert } from '#platform/table-writer.js'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedTopic, database, rejectedTopic } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import { type Config, configSchema } from './config.js'
import { createFigures } from './figures.js'
import { createFetchHandler } from './handle-fetch.js'
import { createLanes } from './lanes.js'
import { startRetention } from './retention-timer.js'

const config = readConfigOrExit<Config>(configSchema)
const log = createLog('sink', config.LOG_LEVEL)

await runService(log, async (onStop, crash) => {
  const metrics = createMetrics('sink')
  const figures = createFigures(metrics)
  const registry = createRegistry(config.SCHEMA_REGISTRY_URL)
  const clickhouse = createClickHouse(config.CLICKHOUSE_URL)
  onStop('clickhouse', clickhouse.close)
  const insert: Insert = async (table, container, rows) => {
    const began = performance.now()
    await clickhouse.insertAvro(`${database}.${table}`, container)
    figures.inserted(table, rows, container.length, (performance.now() - began) / 1000)
  }

  const kafka = createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'weir-sink', log })
  const producer = await kafka.createProducer()
  onStop('producer', producer.close)
  const partitions = partitionsOf(catalogue, rejectedTopic)
  const setAside = await createSetAside({ producer, registry, partitions, metrics, log })

  const stopping = new AbortController()
  const lanes = createLanes(catalogue, registry, insert)
  const onFetch = createFetchHandler({
    lanes,
    setAside,
    figures,
    failAt: createFailAt(config),
    log,
    signal: stopping.signal,
  })
  const consume = (groupId: string, topics: string[]) =>
    kafka.consume({
      groupId,
      topics,
      fromBeginning: true,
      // All of a fetch at once: that is what joins the partitions of a topic into one insert.
      partitionsAtOnce: 256,
      bytesPerFetch: 4 * 1024 * 1024,
      gatherBytes: config.SINK_GATHER_BYTES,
      gatherMs: config.SINK_GATHER_MS,
      onFetch,
      crash,
    })
  const interactionsTopic = acceptedTopic(catalogue.interaction.type)
  const others = [...lanes.keys()].filter((topic) => topic !== interactionsTopic)
  const records = await consume('weir-sink', others)
  onStop('records', records.close)
  const interactions = await consume('weir-sink-interactions', [interactionsTopic])
  onStop('interactions', interactions.close)
  // Released first: a handler that waits for ClickHouse gives up, and its offsets stay uncommitted.
  onStop('waiting inserts', () => stopping.abort())

  const retention = startRetention({ config, clickhouse, metrics, log })
  onStop('retention', retention.stop)

  const readiness = createReadiness({
    kafka: () => {
      records.check()
      interactions.check()
    },
    clickhouse: clickhouse.ping,
    inserts: figures.check,
  })
  const server = await startHealthServer({ host: config.SINK_HOST, port: config.SINK_PORT, readiness, metrics })
  onStop('health server', server.close)
})
