import { layoutVariables } from '#ledger/layout/check-layout.js'
import { retentionVariables } from '#ledger/retention.js'
import { type ConfigSchema, integer, string } from '#platform/process/config.js'
import { failPointVariables } from '#platform/process/fail-point.js'
import { kafkaVariables, logVariables, postgresVariables, registryVariables } from '#platform/process/part-variables.js'
import { tracingVariables } from '#platform/tracing/open-tracing.js'

const { VERDICT_RETENTION_HOURS, REJECTION_RETENTION_DAYS, AUDIT_RETENTION_DAYS, PRUNE_EVERY_SECONDS } =
  retentionVariables

export const configSchema = {
  type: 'object',
  properties: {
    ...kafkaVariables,
    ...registryVariables,
    ...postgresVariables,
    ...logVariables,
    ...tracingVariables,
    ...failPointVariables,
    ...layoutVariables,
    VERDICT_RETENTION_HOURS,
    REJECTION_RETENTION_DAYS,
    AUDIT_RETENTION_DAYS,
    PRUNE_EVERY_SECONDS,
    INTEGRITY_HOST: string({ default: '127.0.0.1' }, "address of integrity's health and metrics pages"),
    INTEGRITY_PORT: integer({ default: 8082 }, "port of integrity's health and metrics pages"),
    MAX_WAITING: integer(
      { minimum: 0, default: 1_000_000 },
      'how many records of one organisation may wait for what they refer to. Beyond that they are refused with `too_many_waiting`; not exact, since each process counts once a second',
    ),
    MAX_WAITING_BYTES: integer(
      { minimum: 0, default: 1_073_741_824 },
      'how many bytes the waiting records of one organisation may take. Beyond that they are refused with `too_many_waiting`; not exact, as above',
    ),
    KNOWN_IDS: integer(
      { minimum: 1, default: 1_000_000 },
      'how many ids known to exist are kept in memory, about 45 bytes each. Others are looked up in Postgres',
    ),
  },
} as const satisfies ConfigSchema
