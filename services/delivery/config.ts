import { retentionVariables } from '#ledger/retention.js'
import { outgoingVariables } from '#platform/outgoing/addresses.js'
import { type ConfigSchema, integer, string } from '#platform/process/config.js'
import {
  clickhouseVariables,
  kafkaVariables,
  logVariables,
  postgresVariables,
  registryVariables,
} from '#platform/process/part-variables.js'

export const configSchema = {
  type: 'object',
  properties: {
    ...kafkaVariables,
    ...registryVariables,
    ...postgresVariables,
    ...clickhouseVariables,
    ...logVariables,
    ...outgoingVariables,
    PRUNE_EVERY_SECONDS: retentionVariables.PRUNE_EVERY_SECONDS,
    DELIVERY_HOST: string({ default: '127.0.0.1' }, "address of delivery's health and metrics pages"),
    DELIVERY_PORT: integer({ default: 8084 }, "port of delivery's health and metrics pages"),
    WEBHOOK_GIVE_UP_HOURS: integer(
      { minimum: 1, default: 72 },
      'for how long a delivery to a webhook is tried again; then the webhook is disabled, until somebody enables it',
    ),
    WEBHOOK_DIGEST_SECONDS: integer(
      { minimum: 1, default: 300 },
      'how long at least lies between two digests of refused records (`rejections.digest`) to one webhook',
    ),
    WEBHOOK_LOG_RETENTION_DAYS: integer(
      { minimum: 1, default: 14 },
      'how many days the delivery log of webhooks is kept, and with it what can be delivered again',
    ),
  },
} as const satisfies ConfigSchema
