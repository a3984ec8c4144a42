import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type Caller, callerOf, type OrgRates } from '#http/request-context.js'
import { type RequestError, sendError } from '#http/request-error.js'
import { type ConfigSchema, integer, type ValuesOf } from '#platform/process/config.js'
import type { EdgeFigures } from '../figures.js'

/** How much one key may send. */
export const rateVariables = {
  // More than an edge with one core can answer in a second: only a client in an endless loop reaches it.
  RATE_REQUESTS_PER_SECOND: integer(
    { minimum: 0, default: 2000 },
    'most requests of one key in a second, unless its organisation has a limit of its own; 0: no limit. Counted by each edge; `weir orgs limits` sets that of an organisation',
  ),
  RATE_RECORDS_PER_SECOND: integer(
    { minimum: 0, default: 100_000 },
    'most records of one key in a second, unless its organisation has a limit of its own; 0: no limit',
  ),
  // About a third of what one core can read. 100 000 records in a second are rarely more than 20 MB.
  RATE_BYTES_PER_SECOND: integer(
    { minimum: 0, default: 33_554_432 },
    'most bytes of bodies of one key in a second, after decompression; 0: no limit',
  ),
} as const satisfies ConfigSchema['properties']

/** How much a key may send in a second; 0: as much as it likes. */
export type Rates = { requests: number; records: number; bytes: number }
type Limit = keyof Rates

export const ratesOf = (config: ValuesOf<typeof rateVariables>): Rates => ({
  requests: config.RATE_REQUESTS_PER_SECOND,
  records: config.RATE_RECORDS_PER_SECOND,
  bytes: config.RATE_BYTES_PER_SECOND,
})

export type RateLimits = {
  /** A hook for after authentication, before the body is read. */
  takeRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>
  /** Why a request with this many records is not taken, if it is not. */
  takeRecords: (request: FastifyRequest, count: number) => RequestError | undefined
  /** Why a body of this size, after decompression, is not read, if it is not. */
  takeBytes: (request: FastifyRequest, bytes: number) => RequestError | undefined
  /** For those who wait: 0 where as much was taken, or else milliseconds after which it is worth trying again. */
  takeLater: (limit: 'records' | 'bytes', request: FastifyRequest, count: number) => number
}

/** Counts what each key sends to this process: two edges together allow twice as much. */
export const createRateLimits = (deps: {
  defaults: Rates
  figures: Pick<EdgeFigures, 'rateLimited'>
  /** Called with the organisation whose request is refused. */
  onLimited?: (orgId: string) => void
  /** How many keys are remembered; room for all of them is taken at once. */
  mostKeys?: number
  now: () => number
}): RateLimits => {
  const { mostKeys = 10_000 } = deps
  const buckets = {
    requests: createBuckets(mostKeys),
    records: createBuckets(mostKeys),
    bytes: createBuckets(mostKeys),
  }

  const takeQuietly = (limit: Limit, caller: Caller, cost: number): { rate: Rate; taken: Taken } | undefined => {
    const rate = rateOf(limit, deps.defaults, caller.rates)
    if (!rate) return undefined
    const name = nameOf(caller)
    const taken = take(buckets[limit].get(name), rate, deps.now(), cost)
    buckets[limit].set(name, taken.bucket)
    return { rate, taken }
  }

  const takeFor: typeof takeQuietly = (limit, caller, cost) => {
    const result = takeQuietly(limit, caller, cost)
    if (result && !result.taken.allowed) {
      deps.figures.rateLimited.inc({ limit })
      deps.onLimited?.(caller.orgId)
    }
    return result
  }

  const takeMany = (limit: Limit) => (request: FastifyRequest, count: number) => {
    const result = takeFor(limit, callerOf(request), count)
    return !result || result.taken.allowed ? undefined : refusal(limit, result.rate, result.taken)
  }

  return {
    takeRequest: async (request, reply) => {
      const result = takeFor('requests', callerOf(request), 1)
      if (!result) return undefined
      reply.headers(headersOf(result.rate, result.taken))
      return result.taken.allowed ? undefined : sendError(reply, refusal('requests', result.rate, result.taken))
    },
    takeRecords: takeMany('records'),
    takeBytes: takeMany('bytes'),
    takeLater: (limit, request, count) =>
      Math.ceil((takeQuietly(limit, callerOf(request), count)?.taken.retryAfter ?? 0) * 1000),
  }
}

// Counted by the key, and by nothing that a client could make up. All clients without a key count as one.
const nameOf = ({ keyId, orgId }: Caller): string => keyId ?? `anyone of ${orgId}`

// Bounded. A key whose bucket was dropped starts with a full one; it has been silent for longer than ten thousand others.
const createBuckets = (mostKeys: number) => new LRUCache<string, Bucket>({ max: mostKeys })

const refusal = (limit: Limit, rate: Rate, taken: Taken): RequestError => {
  const seconds = Math.max(1, Math.ceil(taken.retryAfter))
  return {
    status: 429,
    message: `this API key may send ${rate.perSecond} ${limit} a second; try again in ${seconds} s`,
    headers: { ...headersOf(rate, taken), 'retry-after': String(seconds) },
  }
}

const headersOf = (rate: Rate, { bucket, fullAfter }: Taken) => ({
  'ratelimit-limit': String(rate.burst),
  'ratelimit-remaining': String(Math.max(0, Math.floor(bucket.tokens))),
  'ratelimit-reset': String(Math.ceil(fullAfter)),
})

const burstSeconds = 5
// The largest upload of any type: however low the rate, a client that waits gets one through.
const fullUpload = 5000

/** The rate that holds for a key; undefined where none does. */
export const rateOf = (limit: Limit, defaults: Rates, own: OrgRates | undefined): Rate | undefined => {
  const perSecond = (limit === 'bytes' ? undefined : own?.[limit]) ?? defaults[limit]
  const least = limit === 'records' ? fullUpload : 1
  return perSecond > 0 ? { perSecond, burst: Math.max(perSecond * burstSeconds, least) } : undefined
}

/** How fast a bucket fills, and how much it holds. */
export type Rate = { perSecond: number; burst: number }
/** What was in a bucket at a time in milliseconds. */
export type Bucket = { tokens: number; at: number }
type Taken = {
  allowed: boolean
  bucket: Bucket
  /** Seconds until the same cost would be allowed; 0 where it was. */
  retryAfter: number
  /** Seconds until the bucket is full again. */
  fullAfter: number
}

/** Takes `cost` out of a bucket; one that was not used before is full. */
export const take = (before: Bucket | undefined, rate: Rate, now: number, cost: number): Taken => {
  const filled = before ? fill(before, rate, now) : rate.burst
  // A full bucket lets through more than it holds, and is then in debt: otherwise a large request would never be allowed.
  const needed = Math.min(cost, rate.burst)
  const allowed = filled >= needed
  const tokens = allowed ? filled - cost : filled
  return {
    allowed,
    bucket: { tokens, at: now },
    retryAfter: allowed ? 0 : (needed - tokens) / rate.perSecond,
    fullAfter: (rate.burst - tokens) / rate.perSecond,
  }
}

// A clock that was set back adds nothing, and takes nothing away.
const fill = ({ tokens, at }: Bucket, { perSecond, burst }: Rate, now: number): number =>
  Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond)
