import { layoutVariables } from '#ledger/layout/check-layout.js'
import { retentionVariables } from '#ledger/retention.js'
import { outgoingVariables } from '#platform/outgoing/addresses.js'
import { type ConfigOf, type ConfigSchema, integer, string } from '#platform/process/config.js'
import { failPointVariables } from '#platform/process/fail-point.js'
import { logVariables, partVariables } from '#platform/process/part-variables.js'
import { tracingVariables } from '#platform/tracing/open-tracing.js'
import { type Catalogue, createCatalogue, uploads } from '#schemas/catalogue.js'
import { importVariables } from './imports/bounds.js'
import { lagVariables } from './limits/lag.js'
import { loadVariables } from './limits/load.js'
import { rateVariables } from './limits/rates.js'
import { networkVariables } from './network/network.js'
import { waitVariables } from './uploads/wait-query.js'

/** A setting for each type whose limit can be raised, as the type declares it. */
const limitVariables = Object.fromEntries(
  uploads.flatMap(({ type, limit, raisedBy }) => {
    const bounds = { minimum: limit, maximum: raisedBy?.to ?? limit, default: limit }
    return raisedBy ? [[raisedBy.setting, integer(bounds, `most ${type} in one request`)]] : []
  }),
) as Record<never, never>

export const configSchema = {
  type: 'object',
  properties: {
    ...partVariables,
    ...logVariables,
    ...tracingVariables,
    ...failPointVariables,
    ...layoutVariables,
    ...networkVariables,
    ...rateVariables,
    ...loadVariables,
    ...lagVariables,
    ...importVariables,
    ...waitVariables,
    ...outgoingVariables,
    EDGE_PORT: integer({ minimum: 0, maximum: 65535, default: 8080 }, 'port that the edge listens on'),
    OPERATIONS_PORT: integer(
      { minimum: 1, maximum: 65535 },
      'port for operators alone, with /metrics and all of /readyz; EDGE_PORT then tells only ready or not. Plain HTTP on EDGE_HOST',
    ),
    // The places that schemas/version.ts has for the records of a batch.
    BATCH_RECORDS: integer({ minimum: 1, maximum: 8192, default: 500 }, 'most records in one batch'),
    BATCH_BYTES: integer(
      { minimum: 1024, maximum: 8_388_608, default: 524_288 },
      'about how large a batch may grow. Keep it below `max.message.bytes` of the topics (32 MiB)',
    ),
    BODY_LIMIT: integer(
      { minimum: 1024, maximum: 67_108_864, default: 16_777_216 },
      'most bytes of a request body, after decompression',
    ),
    ...limitVariables,
    VERDICT_TIMEOUT_MS: integer(
      { minimum: 100, default: 30_000 },
      'how long a request waits for its verdicts. Then it is answered "outcome unknown"',
    ),
    REQUEST_RETENTION_HOURS: integer(
      { minimum: 24, default: 720 },
      'how long a request that was never decided can be looked up',
    ),
    PRUNE_EVERY_SECONDS: retentionVariables.PRUNE_EVERY_SECONDS,
    INTERACTION_GATHER_MS: integer(
      { minimum: 0, maximum: 1000, default: 5 },
      'how long an interaction waits for others to share its event, while an earlier one is on its way. More means fewer, larger batches and slower answers',
    ),
    INTERACTIONS_REQUIRE_KEY: {
      type: 'boolean',
      default: true,
      description: 'whether recording an interaction needs an API key. With false, INTERACTIONS_ORG has to be set',
    },
    INTERACTIONS_ORG: string({ default: '' }, 'the organisation that interactions without a key belong to'),
    WEIR_DEMO_KEY: string(
      {},
      'the one key that may have another form than those that are issued; it has to be provisioned too. The key of the organisation demo, at least 8 visible characters; without it one is made. It has to stay set for as long as that key is used',
    ),
    SUBSCRIBER_BROKERS: string(
      {},
      'Kafka addresses for downstream teams, where they are others than those in KAFKA_BROKERS: the consumers that the console shows to copy name them',
    ),
    SUBSCRIBER_REGISTRY_URL: string(
      {},
      'the same for the schema registry, where it is another than SCHEMA_REGISTRY_URL',
    ),
    PEERS: string(
      { default: '' },
      'services whose health and metrics the edge shows, like integrity=http://127.0.0.1:8082,sink=http://127.0.0.1:8083,delivery=http://127.0.0.1:8084. `npm start` sets it',
    ),
  },
} as const satisfies ConfigSchema

export type EdgeConfig = ConfigOf<typeof configSchema>

/** The organisation that may record interactions without a key, if any may. */
export const openOrgOf = (
  config: Pick<EdgeConfig, 'INTERACTIONS_REQUIRE_KEY' | 'INTERACTIONS_ORG'>,
): string | undefined => {
  if (config.INTERACTIONS_REQUIRE_KEY) return undefined
  if (config.INTERACTIONS_ORG) return config.INTERACTIONS_ORG
  throw new Error('INTERACTIONS_REQUIRE_KEY is false, so INTERACTIONS_ORG must name an organisation')
}

/** The port for operators, if they have one of their own. */
export const operationsPortOf = (config: Pick<EdgeConfig, 'OPERATIONS_PORT' | 'EDGE_PORT'>): number | undefined => {
  if (config.OPERATIONS_PORT === config.EDGE_PORT) throw new Error('OPERATIONS_PORT must differ from EDGE_PORT')
  return config.OPERATIONS_PORT
}

/** The same catalogue with the limits that were set, of those types whose limit can be raised. */
export const withLimits = (catalogue: Catalogue, config: Readonly<Record<string, unknown>>): Catalogue =>
  createCatalogue(
    [...catalogue.uploads.values()].map((type) =>
      type.raisedBy ? { ...type, limit: Number(config[type.raisedBy.setting]) } : type,
    ),
    catalogue.interaction,
  )
