import { migrate } from '#ledger/migrate.js'
import { createClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { createRegistry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Config } from '../config.js'
import { partsOf } from '../desk/parts.js'
import { waitForParts } from '../desk/wait-for-part.js'
import { withPool } from '../desk/with-pool.js'
import { type DemoKeyProvisioned, provisionDemoKey } from './demo-key.js'
import { provisionSubjects } from './subjects.js'
import { provisionTables } from './tables.js'
import { provisionTopics } from './topics.js'

export type ProvisionOptions = {
  config: Config
  catalogue: Catalogue
  log: Log
  /** One short line for each step. */
  report: (line: string) => void
  /** Milliseconds that a part may take to answer. */
  wait: number
  demoKeyFile: string | undefined
}

/** Makes all that the services expect to find. Everything may be run again, and by several at the same time. */
export const provision = async (options: ProvisionOptions): Promise<void> => {
  const { config, catalogue, log, report, wait, demoKeyFile } = options
  const kafka = createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'weir-operator', log })
  const registry = createRegistry(config.SCHEMA_REGISTRY_URL)
  const clickhouse = createClickHouse(config.CLICKHOUSE_URL)

  const parts = partsOf(config, { kafka, registry, clickhouse, log })

  const step = async <T>(work: () => Promise<T>, sentence: (done: T) => string): Promise<void> => {
    const started = performance.now()
    const done = await work()
    report(`${sentence(done)} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
  }

  try {
    await step(
      () => waitForParts(parts, wait),
      () => 'all parts answer',
    )
    await step(
      () => migrate(config.POSTGRES_URL),
      ({ run }) => `Postgres: ${run} migrations run`,
    )
    await step(
      () => provisionTopics(kafka, catalogue, config.KAFKA_REPLICATION),
      ({ topics, created, altered }) => `Kafka: ${topics} topics, ${created} created, ${altered} altered`,
    )
    await step(
      () => provisionSubjects(registry, catalogue),
      ({ subjects }) => `registry: ${subjects} subjects`,
    )
    await step(
      () => provisionTables(clickhouse, catalogue),
      ({ statements }) => `ClickHouse: ${statements} statements`,
    )
    if (demoKeyFile !== undefined || config.WEIR_DEMO_KEY !== undefined) {
      const demo = { key: config.WEIR_DEMO_KEY, file: demoKeyFile }
      await step(() => withPool(config.POSTGRES_URL, log, (pool) => provisionDemoKey(pool, demo)), toSentence)
    }
  } finally {
    await clickhouse.close()
  }
}

const toSentence = ({ keyId, from }: DemoKeyProvisioned): string => {
  switch (from) {
    case 'environment':
      return `demo: key ${keyId} of WEIR_DEMO_KEY`
    case 'file':
      return `demo: key ${keyId} of the key file`
    case 'new':
      return `demo: new key ${keyId}`
    default:
      return from satisfies never
  }
}
