import type { ConfigSchema, ValuesOf } from '#platform/process/config.js'

/** How much one key may send, and how much may be in flight at once. */
export const limitVariables = {
  RATE_REQUESTS_PER_SECOND: {
    type: 'integer',
    minimum: 0,
    // More than one edge answers on a core: a test or a bench does not meet it, a client that runs wild does.
    default: 2000,
    description: 'most requests of one key in a second, unless its organisation has a limit of its own; 0: no limit',
  },
  RATE_RECORDS_PER_SECOND: {
    type: 'integer',
    minimum: 0,
    default: 100_000,
    description: 'most records of one key in a second, unless its organisation has a limit of its own; 0: no limit',
  },
  MAX_BYTES_IN_FLIGHT: {
    type: 'integer',
    minimum: 1024,
    default: 134_217_728,
    description: 'most bytes of bodies, after decompression, that are in flight at once; at least BODY_LIMIT',
  },
  MAX_BATCHES_IN_FLIGHT: {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'batches without a verdict from which on no more bodies are taken in',
  },
} as const satisfies ConfigSchema['properties']

export type LimitConfig = ValuesOf<typeof limitVariables>
