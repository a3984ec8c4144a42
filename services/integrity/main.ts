// submitted batches → decided in Postgres → accepted, rejected and verdict events.
import { readConfigOrExit } from '#platform/config.js'
import { createFailAt } from '#platform/fail-point.js'
import { createReadiness } from '#platform/health.js'
import { startHealthServer } from '#platform/health-server.js'
import { createKafka } from '#platform/kafka.js'
import { runService } from '#platform/lifecycle.js'
import { createLog } from '#platform/log.js'
import { createMetrics } from '#platform/metrics.js'
import { createPool } from '#platform/postgres.js'
import { createRegistry } from '#platform/registry.js'
import { createSetAside } from '#platform/set-aside.js'
import { catalogue } from '#schemas/catalogue.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { rejectedTopic } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { type Config, configSchema } from './config.js'
import { createEntityIndex } from './entity-index.js'
import { createFigures } from './figures.js'
import { committedOffsets, type Group, groupsOf } from './groups.js'
import { createFetchHandler, type Lane } from './handle-fetch.js'
import { createPublisher } from './publisher.js'
import { startRetention } from './retention-timer.js'

const config = readConfigOrExit<Config>(configSchema)
const log = createLog('integrity', config.LOG_LEVEL)

await runService(log, async (onStop, crash) => {
  const failAt = createFailAt(config)
  const metrics = createMetrics('integrity')
  const registry = createRegistry(config.SCHEMA_REGISTRY_URL)
  // Longer than a sleeper may hold a cursor.
  const pool = createPool(config.POSTGRES_URL, log, 10, 20_000)
  onStop('postgres', () => pool.end())

  const kafka = createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'weir-integrity', log })
  const producer = await kafka.createProducer()
  onStop('producer', producer.close)

  const createLane = async (type: RecordType): Promise<Lane> => ({
    type,
    decode: registry.decoder<SubmittedBatch>(submittedSchema(type)),
    publish: await createPublisher({ catalogue, type, producer, registry, failAt }),
  })
  const onFetch = createFetchHandler({
    catalogue,
    pool,
    index: createEntityIndex(config.KNOWN_IDS),
    lanes: await Promise.all([...catalogue.all.values()].map(createLane)),
    figures: createFigures(metrics),
    failAt,
    log,
    setAside: await createSetAside({
      producer,
      registry,
      partitions: partitionsOf(catalogue, rejectedTopic),
      metrics,
      log,
    }),
  })

  const groups = groupsOf(catalogue)
  const consume = (group: Group) =>
    kafka.consume({
      ...group,
      fromBeginning: true,
      partitionsAtOnce: 4,
      bytesPerPartition: 512 * 1024,
      onFetch,
      crash,
    })
  const uploads = await consume(groups.uploads)
  onStop('uploads', uploads.close)
  const interactions = await consume(groups.interactions)
  onStop('interactions', interactions.close)

  const committed = () => committedOffsets(kafka, catalogue)
  const retention = startRetention({ config, catalogue, pool, committed, metrics, log })
  onStop('retention', retention.stop)

  const readiness = createReadiness({
    kafka: () => {
      uploads.check()
      interactions.check()
    },
    postgres: () => pool.query('select 1'),
  })
  const { INTEGRITY_HOST: host, INTEGRITY_PORT: port } = config
  const server = await startHealthServer({ host, port, readiness, metrics })
  onStop('health server', server.close)
})
