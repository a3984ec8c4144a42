import { type ConfigSchema, type PartConfig, partVariables } from '#platform/config.js'

export const configSchema = {
  type: 'object',
  properties: {
    ...partVariables,
    // What goes wrong is told in one line; the client libraries' own warnings would only stand in front of it.
    LOG_LEVEL: { ...partVariables.LOG_LEVEL, default: 'error' },
    KAFKA_REPLICATION: {
      type: 'integer',
      minimum: 1,
      default: 1,
      description: 'how many brokers keep a copy of each topic that is created',
    },
    WEIR_DEMO_KEY: { type: 'string', description: "the demo organisation's key, at least 8 visible characters" },
  },
} as const satisfies ConfigSchema

export type Config = PartConfig & { KAFKA_REPLICATION: number; WEIR_DEMO_KEY?: string }
