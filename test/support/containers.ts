import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import type { Stack } from './stack.js'

// The tags of docker-compose.yml.
const images = {
  kafka: 'apache/kafka:4.1.0',
  registry: 'apicurio/apicurio-registry-mem:2.6.13.Final',
  postgres: 'postgres:18.4-trixie',
  clickhouse: 'clickhouse/clickhouse-server:25.8.3.66',
}

/** The parts as containers, for a machine with a Docker engine. */
export const startContainers = async (): Promise<Stack> => {
  const [kafka, registry, postgres, clickhouse] = await Promise.all([
    startKafka(),
    new GenericContainer(images.registry)
      .withExposedPorts(8080)
      .withWaitStrategy(Wait.forHttp('/apis/ccompat/v7/subjects', 8080))
      .start(),
    new GenericContainer(images.postgres)
      .withExposedPorts(5432)
      .withEnvironment({ POSTGRES_USER: 'weir', POSTGRES_PASSWORD: 'weir', POSTGRES_DB: 'weir' })
      // It starts once to make the database, and then again for good.
      .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
      .start(),
    new GenericContainer(images.clickhouse)
      .withExposedPorts(8123)
      .withEnvironment({
        CLICKHOUSE_USER: 'weir',
        CLICKHOUSE_PASSWORD: 'weir',
        CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT: '1',
      })
      .withUlimits({ nofile: { soft: 262_144, hard: 262_144 } })
      .withWaitStrategy(Wait.forHttp('/ping', 8123))
      .start(),
  ])
  return {
    env: {
      KAFKA_BROKERS: kafka.brokers,
      SCHEMA_REGISTRY_URL: `http://${registry.getHost()}:${registry.getMappedPort(8080)}/apis/ccompat/v7`,
      POSTGRES_URL: `postgres://weir:weir@${postgres.getHost()}:${postgres.getMappedPort(5432)}/weir`,
      CLICKHOUSE_URL: `http://weir:weir@${clickhouse.getHost()}:${clickhouse.getMappedPort(8123)}`,
    },
    stop: async () => {
      await Promise.all([kafka, registry, postgres, clickhouse].map((container) => container.stop()))
    },
  }
}

const startKafka = async () => {
  // Clients are sent on to the advertised address, so the port outside must be known before the start.
  const [port = 0] = await freePorts(1)
  const { host } = (await getContainerRuntimeClient()).info.containerRuntime
  const container = await new GenericContainer(images.kafka)
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_INTER_BROKER_LISTENER_NAME: 'INSIDE',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'INSIDE:PLAINTEXT,HOST:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_LISTENERS: 'INSIDE://:19092,HOST://:9092,CONTROLLER://:9093',
      KAFKA_ADVERTISED_LISTENERS: `INSIDE://localhost:19092,HOST://${host}:${port}`,
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_MESSAGE_MAX_BYTES: String(32 * 1024 * 1024),
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start()
  return { brokers: `${host}:${port}`, stop: () => container.stop() }
}
