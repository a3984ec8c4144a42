import type { ClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { createPool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import type { Config } from '../config.js'
import { addressOf } from './address.js'
import type { Part } from './wait-for-part.js'

/** Everything that is provisioned, and how each is asked whether it is there. */
export const partsOf = (
  config: Config,
  { kafka, registry, clickhouse, log }: { kafka: Kafka; registry: Registry; clickhouse: ClickHouse; log: Log },
): Part[] => [
  {
    name: 'Postgres',
    address: addressOf(config.POSTGRES_URL),
    variable: 'POSTGRES_URL',
    check: () => pingPostgres(config.POSTGRES_URL, log),
  },
  {
    name: 'Kafka',
    address: config.KAFKA_BROKERS,
    variable: 'KAFKA_BROKERS',
    check: () => kafka.withAdmin((admin) => admin.describeCluster()),
  },
  {
    name: 'the schema registry',
    address: addressOf(config.SCHEMA_REGISTRY_URL),
    variable: 'SCHEMA_REGISTRY_URL',
    check: registry.ping,
  },
  {
    name: 'ClickHouse',
    address: addressOf(config.CLICKHOUSE_URL),
    variable: 'CLICKHOUSE_URL',
    check: clickhouse.ping,
  },
]

const pingPostgres = async (url: string, log: Log): Promise<void> => {
  const pool = createPool(url, log, 1)
  try {
    await pool.query('select 1')
  } finally {
    await pool.end()
  }
}
