// submitted batches → decided in Postgres → accepted, rejected and verdict events.

import { findCursors } from '#ledger/cursors.js'
import { createGates } from '#ledger/erasures/gates.js'
import {
  refuseAddedPartition,
  untilPartitioned,
  untilProvisioned,
  watchPartitions,
} from '#ledger/layout/check-layout.js'
import { findGenerations, finishGeneration, type Generation } from '#ledger/layout/layout.js'
import { publishedOffsets } from '#ledger/layout/published.js'
import { checkWithinForPeers, createReadiness, startHealthServer } from '#platform/health/health.js'
import { createLog } from '#platform/health/log.js'
import { createMetrics } from '#platform/health/metrics.js'
import { createRecentFailures } from '#platform/health/recent-failures.js'
import { committedOffsets, type Group } from '#platform/kafka/committed-offsets.js'
import { type Consumer, createKafka } from '#platform/kafka/kafka.js'
import { countedFrom } from '#platform/kafka/partitions.js'
import { createSetAside } from '#platform/kafka/set-aside.js'
import { abandonAfter, createPool, endPool, ping } from '#platform/postgres/postgres.js'
import { readAccess } from '#platform/process/access.js'
import { orExit, readConfigOrExit } from '#platform/process/config.js'
import { createFailAt } from '#platform/process/fail-point.js'
import { runService } from '#platform/process/lifecycle.js'
import { createPatience } from '#platform/process/patience.js'
import { createRegistry } from '#platform/registry.js'
import { openTracing } from '#platform/tracing/open-tracing.js'
import { catalogue } from '#schemas/catalogue.js'
import { rejectedSchema, waitingSchema } from '#schemas/derive/avro.js'
import { erasuresTopic, generationOfSubmitted, rejectedTopic, subjectOf, waitingTopic } from '#schemas/derive/names.js'
import { groupsOf, type Layout, partitionsOf, topicsOf } from '#schemas/derive/topics.js'
import type { RejectedEvent, WaitingEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { createSetAsideMessage } from '#schemas/set-aside.js'
import { configSchema } from './config.js'
import { createEntityIndex } from './entity-index.js'
import { createIntegrityFigures } from './figures.js'
import { followGenerations } from './generations.js'
import { createFetchHandler, type TypeTools } from './handle-fetch.js'
import { createPostgresMemory } from './postgres-memory.js'
import { createPublisher } from './publisher.js'
import { createReadBatch } from './read-batch.js'
import { startRetention } from './retention.js'
import { createLanePlace } from './waiting/lane-place.js'
import { createRelayTurn } from './waiting/relay.js'
import { createResumeBytes, type ResumeBytes } from './waiting/resume.js'
import { createRoomToWait } from './waiting/room.js'
import { startRelay } from './waiting/start-relay.js'

const config = readConfigOrExit(configSchema)
const access = orExit(() => readAccess(config, ['kafka', 'registry', 'postgres']))
const log = createLog('integrity', config.LOG_LEVEL)
// Longer than a process stopped in its transaction can hold a cursor; half of what an uploader waits for a verdict.
const queryTimeout = 15_000
const stopWaitingAfter = 4_000

await runService(log, async (onStop, crash) => {
  const failAt = createFailAt(config)
  const tracing = await openTracing(config, { name: 'weir-integrity', log })
  onStop('traces', tracing.close)
  const metrics = createMetrics('integrity')
  const registry = createRegistry(access.registry.url, access.registry)
  // More than are worked on at once: a few partitions that hang on a lock must not keep the others from Postgres.
  const pool = createPool(access.postgres, log, 20, {
    queryTimeout,
    byIndexes: true,
    onConnect: (connection) => memory.onConnect(connection),
  })
  onStop('postgres', () => endPool(pool))
  const kafka = createKafka({ ...access.kafka, clientId: 'weir-integrity', log })
  let generations: Awaited<ReturnType<typeof followGenerations>> | undefined
  const committedOf = (generation: number) => committedOffsets(kafka, Object.values(groupsOf(catalogue, generation)))
  const published = async () => publishedOffsets(kafka, catalogue, generations?.all() ?? (await findGenerations(pool)))
  const figures = createIntegrityFigures(metrics)
  const memory = createPostgresMemory({ pool, committed: published, counted: figures.postgresBehind, log })

  const patience = createPatience(log)
  let consumers: Consumer[] = []
  let partitions: ReturnType<typeof watchPartitions> | undefined
  const fetches = createRecentFailures((place, reason) => `batches of ${place} are not decided or published: ${reason}`)
  const readiness = createReadiness(
    {
      kafka: () => {
        patience.check('kafka')
        patience.check('partitions')
        if (consumers.length < 2) throw new Error('not consuming yet')
        for (const { check } of consumers) check()
      },
      postgres: () => {
        patience.check('layout')
        return ping(pool)
      },
      // What Postgres lacks of all that was published: only an operator can mend that.
      memory: memory.check,
      decisions: fetches.check,
      partitions: () => partitions?.check(),
      // Needed for the start only: from then on the schemas are known.
      registry: () => patience.check('registry'),
    },
    checkWithinForPeers,
  )
  const { INTEGRITY_HOST: host, INTEGRITY_PORT: port } = config
  const server = await startHealthServer({ host, port, readiness, metrics })
  onStop('health server', server.close)

  const producer = await patience.until('kafka', kafka.createProducer)
  onStop('producer', producer.close)

  const layout = await untilProvisioned(pool, patience, config)
  const deciding = new Map<number, Layout>()
  const layoutOf = (topic: string): Layout => deciding.get(generationOfSubmitted(topic)) ?? layout
  const toolsFor = async (type: RecordType): Promise<TypeTools & ResumeBytes> => {
    const read = await createReadBatch(type, registry)
    const publish = await createPublisher({ catalogue, type, producer, registry, layout, failAt })
    const { keep, resume } = await createResumeBytes(type, registry, read)
    return { type, read, publish, keep, resume }
  }
  const types = [...catalogue.all.values()]
  const tools = await patience.until('registry', () => Promise.all(types.map(toolsFor)))
  const encodeRejected = await registry.encoder<RejectedEvent>(subjectOf(rejectedTopic), rejectedSchema())
  const setAside = createSetAside({
    producer,
    topic: rejectedTopic,
    partitions: partitionsOf(layout, rejectedTopic),
    toMessage: createSetAsideMessage(encodeRejected),
    metrics,
    log,
  })

  const encodeWaiting = await registry.encoder<WaitingEvent>(subjectOf(waitingTopic), waitingSchema())
  const turn = createRelayTurn({
    pool,
    bytesOf: (type) => {
      const found = tools.find((each) => each.type.type === type)
      if (!found) throw new Error(`nothing is called ${type}`)
      return found
    },
    producer,
    encodeWaiting,
    placeOf: createLanePlace(catalogue, () => {
      const open = generations?.all().findLast(({ state }) => state === 'open')
      return open ?? layout
    }),
    waitingPartitions: partitionsOf(layout, waitingTopic),
    failAt,
    log,
  })
  const relay = startRelay({ pool, turn, counted: figures.waiting, log })
  onStop('waiting records', relay.stop)
  const handleFetch = createFetchHandler({
    catalogue,
    tools,
    pool,
    lanesOf: (topic) => layoutOf(topic).lanes,
    logStart: async (topic, partition) => {
      const offsets = await kafka.withAdmin((admin) => admin.fetchTopicOffsets(topic))
      return countedFrom(topic) + Number(offsets.find((each) => each.partition === partition)?.low ?? 0)
    },
    index: createEntityIndex(config.KNOWN_IDS),
    gates: createGates(),
    room: createRoomToWait({ records: config.MAX_WAITING, bytes: config.MAX_WAITING_BYTES }),
    onArrived: relay.wake,
    setAside,
    refuseUnsure: memory.refuseUnsure,
    tracing,
    figures,
    failAt,
    log,
  })
  onStop('memory of Postgres', memory.start().stop)
  const consume = (group: Group): Promise<Consumer> =>
    kafka.consume({
      ...group,
      fromBeginning: true,
      looksBack: true,
      partitionsAtOnce: 4,
      // Measured: beside another organisation's flood, a small request is answered after 3 to 5 times as long as alone, instead of 16 times.
      smallBelow: 256 * 1024,
      onFetch: (fetch) =>
        fetches.watch(fetch, async () => {
          refuseAddedPartition(layoutOf(fetch.topic), fetch)
          await memory.mayDecide()
          await handleFetch(fetch)
        }),
      onAssigned: (assigned) => figures.assigned(group.topics, assigned),
      crash,
    })
  const open = async (generation: Generation) => {
    // All that it reads or writes: of the others a guarded Kafka tells it nothing.
    const topics = topicsOf(catalogue, generation).flatMap(({ name }) => (name === erasuresTopic ? [] : [name]))
    // What was acknowledged is decided and published also where partitions were added by hand: only then can that be undone.
    await untilPartitioned(kafka, patience, generation, topics, { orMore: true })
    partitions?.stop()
    partitions = watchPartitions({ kafka, layout: generation, topics, log })
    deciding.set(generation.generation, generation)
    const { uploads, interactions } = groupsOf(catalogue, generation.generation)
    const opened = [await consume(uploads), await consume(interactions)]
    consumers = opened
    return async () => void (await Promise.all(opened.map(({ close }) => close())))
  }
  generations = await followGenerations({
    find: () => findGenerations(pool),
    committed: committedOf,
    cursors: () => findCursors(pool),
    finish: (generation) => finishGeneration(pool, generation),
    open,
    log,
  })
  onStop('consumers', generations.close)
  onStop('watch of partitions', () => partitions?.stop())

  const retention = startRetention({ config, catalogue, pool, committed: published, metrics, log })
  onStop('retention', retention.stop)
  // Released first: a fetch that hangs on Postgres would keep this consumer in its group. The fetch is not decided, and the
  // partition's next owner decides it.
  onStop('hanging fetches', () => abandonAfter(stopWaitingAfter, pool))
})
