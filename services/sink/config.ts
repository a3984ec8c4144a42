import { retentionVariables } from '#ledger/retention.js'
import { type ConfigSchema, integer, string } from '#platform/process/config.js'
import { failPointVariables } from '#platform/process/fail-point.js'
import {
  clickhouseVariables,
  kafkaVariables,
  logVariables,
  registryVariables,
} from '#platform/process/part-variables.js'
import { tracingVariables } from '#platform/tracing/open-tracing.js'

const { REJECTION_RETENTION_DAYS, HISTORY_DAYS, PRUNE_EVERY_SECONDS } = retentionVariables

export const configSchema = {
  type: 'object',
  properties: {
    ...kafkaVariables,
    ...registryVariables,
    ...clickhouseVariables,
    ...logVariables,
    ...tracingVariables,
    ...failPointVariables,
    REJECTION_RETENTION_DAYS,
    HISTORY_DAYS,
    PRUNE_EVERY_SECONDS,
    SINK_HOST: string({ default: '127.0.0.1' }, "address of the sink's health and metrics pages"),
    SINK_PORT: integer({ default: 8083 }, "port of the sink's health and metrics pages"),
    MARTS_KEPT_FROM: integer(
      { minimum: 1, default: 200_000 },
      'an organisation with so many transactions and interactions is a large one: its marts are kept as tables, see docs/marts.md',
    ),
    SINK_GATHER_MS: integer(
      { minimum: 10, maximum: 5000, default: 300 },
      'how long rows wait for others, so that ClickHouse gets few large blocks. Views lag by about as much. While inserts take long, twice as long as they took, up to 750',
    ),
    SINK_GATHER_BYTES: integer(
      { minimum: 1, default: 1024 * 1024 },
      'as soon as this much waits in Kafka, compressed, it is taken at once. More than 1 MiB counts as 1 MiB',
    ),
  },
} as const satisfies ConfigSchema
