import { layoutVariables } from '#ledger/layout/check-layout.js'
import { retentionVariables } from '#ledger/retention.js'
import { outgoingVariables } from '#platform/outgoing/addresses.js'
import { type ConfigOf, type ConfigSchema, integer, string } from '#platform/process/config.js'
import { logVariables, partVariables } from '#platform/process/part-variables.js'

const { VERDICT_RETENTION_HOURS, REJECTION_RETENTION_DAYS, AUDIT_RETENTION_DAYS, HISTORY_DAYS } = retentionVariables

/** Stands for the address of a part that no variable names, and that `npm run weir` did not find in its data folder. */
export const nowhere = 'nowhere'

export const configSchema = {
  type: 'object',
  properties: {
    ...partVariables,
    // A failure is printed in one line; the client libraries' own warnings would only stand in front of it.
    LOG_LEVEL: { ...logVariables.LOG_LEVEL, default: 'error' },
    KAFKA_REPLICATION: integer(
      { minimum: 1 },
      'how many brokers keep a copy of each topic that is created. Where it is not set: three, or as many brokers as there are',
    ),
    ...layoutVariables,
    EDGE_URL: string({ default: 'http://127.0.0.1:8080' }, 'the edge that sends refused records again'),
    OPERATIONS_PORT: integer({ minimum: 1, maximum: 65535 }, "the port of the edge's pages for operators"),
    PEERS: string({ default: '' }, 'where weir status finds integrity, sink and delivery, as for the edge'),
    NO_SYSTEM_IN: string(
      {},
      'the data folder in which npm run weir found no system; it sets this, and you never have to',
    ),
    CALLED_AS: string(
      { default: 'npm run -s weir --' },
      'what stands before the words of a command in hints and examples, so that they can be pasted',
    ),
    VERDICT_RETENTION_HOURS,
    REJECTION_RETENTION_DAYS,
    AUDIT_RETENTION_DAYS,
    HISTORY_DAYS,
    ...outgoingVariables,
    WEIR_DEMO_KEY: string({}, "the demo organisation's key, at least 8 visible characters"),
  },
} as const satisfies ConfigSchema

export type OperatorConfig = ConfigOf<typeof configSchema>
