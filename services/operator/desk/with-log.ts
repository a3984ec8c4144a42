import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import { createKafka, type Kafka } from '#platform/kafka/kafka.js'
import { createRegistry, type Registry } from '#platform/registry.js'
import type { Config } from '../config.js'
import { OperatorError } from './operator-error.js'

/** Runs work on the log and its schemas; a Kafka that is not there becomes one line that says what to do. */
export const withLog = async <T>(
  config: Pick<Config, 'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL'>,
  log: Log,
  work: (parts: { kafka: Kafka; registry: Registry }) => Promise<T>,
): Promise<T> => {
  const kafka = createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'weir-operator', log })
  const registry = createRegistry(config.SCHEMA_REGISTRY_URL)
  try {
    return await work({ kafka, registry })
  } catch (error) {
    if (!/^KafkaJS(Connection|NumberOfRetries|BrokerNotFound|RequestTimeout)/.test((error as Error).name)) throw error
    const [reason] = reasonOf(error).split(': Connection error')
    throw new OperatorError(
      `Kafka does not answer at ${config.KAFKA_BROKERS} (${reason}): is npm start running? ` +
        'KAFKA_BROKERS says where it is',
    )
  }
}
