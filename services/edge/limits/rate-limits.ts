import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Figures } from '../figures.js'
import type { Caller } from '../http/caller.js'
import { callerOf } from '../http/request-context.js'
import { type RequestError, sendError } from '../http/request-error.js'
import { type Limit, type Rates, rateOf } from './rates.js'
import { type Bucket, type Rate, type Taken, take } from './token-bucket.js'

export type RateLimits = {
  /** A hook for after authentication, before the body is read. */
  takeRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>
  /** Why a request with so many records is not taken, if it is not. */
  takeRecords: (request: FastifyRequest, count: number) => RequestError | undefined
}

/** Counts what each key sends, in this process: several edges allow several times as much. */
export const createRateLimits = (deps: {
  defaults: Rates
  figures: Pick<Figures, 'rateLimited'>
  now: () => number
}): RateLimits => {
  const buckets = { requests: createBuckets(), records: createBuckets() }

  const takeFor = (limit: Limit, caller: Caller, cost: number): { rate: Rate; taken: Taken } | undefined => {
    const rate = rateOf(limit, deps.defaults, caller.rates)
    if (!rate) return undefined
    const name = nameOf(caller)
    const taken = take(buckets[limit].get(name), rate, deps.now(), cost)
    buckets[limit].set(name, taken.bucket)
    if (!taken.allowed) deps.figures.rateLimited.inc({ limit })
    return { rate, taken }
  }

  return {
    takeRequest: async (request, reply) => {
      const result = takeFor('requests', callerOf(request), 1)
      if (!result) return undefined
      reply.headers(headersOf(result.rate, result.taken))
      return result.taken.allowed ? undefined : sendError(reply, refusal('requests', result.rate, result.taken))
    },
    takeRecords: (request, count) => {
      const result = takeFor('records', callerOf(request), count)
      return !result || result.taken.allowed ? undefined : refusal('records', result.rate, result.taken)
    },
  }
}

/** Who is counted: the key, and nothing that a client could make up; all who need no key are one. */
const nameOf = ({ keyId, orgId }: Caller): string => keyId ?? `anyone of ${orgId}`

// Bounded; a key that is pushed out has been silent for longer than ten thousand others.
const createBuckets = () => new LRUCache<string, Bucket>({ max: 10_000 })

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
