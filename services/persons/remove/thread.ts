// Run by start.ts as a thread of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { createClickHouse } from '#platform/clickhouse.js'
import { createLog } from '#platform/health/log.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { abandonAfter, createPool, endPool } from '#platform/postgres/postgres.js'
import { createPatience } from '#platform/process/patience.js'
import { createRegistry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { startErasing } from '../erase/start.js'
import { startRetaining } from '../retention/work.js'
import type { RemovalSettings } from './start.js'

const { access, logLevel } = workerData as RemovalSettings
const log = createLog('delivery', logLevel)
const over = new AbortController()
const stopWaitingAfter = 3_000

// A large table is counted, or written anew, in a statement that takes as long as it takes; but not for good, where a connection was lost.
const pool = createPool(access.postgres, log, 4, { queryTimeout: 30 * 60_000 })
const clickhouse = createClickHouse(access.clickhouse.url, {
  ...access.clickhouse,
  signal: over.signal,
  requestTimeout: 60 * 60_000,
})
const registry = createRegistry(access.registry.url, access.registry)
const kafka = createKafka({ ...access.kafka, clientId: 'weir-delivery', log })

const stopped = new Promise<void>((resolve) => {
  parentPort?.once('message', () => {
    over.abort(new Error('the service stops'))
    abandonAfter(stopWaitingAfter, pool)
    resolve()
  })
})
const opening = createPatience(log).until('kafka', kafka.createProducer)
const producer = await Promise.race([opening, stopped])
if (producer) {
  const place = { cluster: access.clickhouse.cluster }
  const deps = { pool, kafka, registry, clickhouse, producer, catalogue, place, signal: over.signal, log }
  const works = [startErasing(deps), startRetaining(deps)]
  await stopped
  await Promise.all(works.map(({ stop }) => stop()))
  await producer.close()
}
await clickhouse.close()
await endPool(pool)
process.exit()
