import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { type liveHistory, type liveRates, watch as watchEndpoint } from '#schemas/endpoints/overview.js'
import type { ValueOf } from '#schemas/endpoints/values.js'
import type { Reads } from '../reads.js'
import { type Activity, type BucketCounts, bucketMs, bucketSeconds, bucketsShown, type Watch } from './activity.js'
import type { EventStream, Streams } from './streams.js'

const showEvery = 1_000

/** GET /v1/live: what is decided for an organisation, as server-sent events; first the last 15 minutes, then each five seconds. */
export const addLive = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; activity: Pick<Activity, 'watch'>; streams: Streams; consoleReads: Reads },
): void => {
  const live = on(watchEndpoint, async (_asked, request, reply) => {
    const { orgId } = callerOf(request)
    const watch = await deps.consoleReads(orgId, () => deps.activity.watch(orgId))
    if ('error' in watch) return watch
    return deps.streams.open(request, reply, watch.leave, (stream) => show(watch, stream))
  })
  addEndpoints(app, deps.catalogue, [live])
}

const show = (watch: Watch, { send, onEnd }: EventStream): void => {
  const from = watch.current() - (bucketsShown - 1) * bucketMs
  const buckets = Array.from({ length: bucketsShown }, (_, i) => watch.at(from + i * bucketMs))
  const column = (name: keyof BucketCounts): number[] => buckets.map((one) => one[name])
  send('history', {
    bucket_seconds: bucketSeconds,
    from: new Date(from).toISOString(),
    accepted: column('accepted'),
    refused: column('refused'),
    waiting: column('waiting'),
    interactions: column('interactions'),
  } satisfies ValueOf<typeof liveHistory>)

  // What was sent of the last buckets. One that has ended is sent once, and again if a verdict on it comes late.
  const sent = new Map<number, string>()
  const textOf = (bucket: number): string => JSON.stringify(watch.at(bucket))
  const lastOnes = (): number[] => [2, 1, 0].map((back) => watch.current() - back * bucketMs)
  for (const bucket of lastOnes()) sent.set(bucket, textOf(bucket))
  const showChanges = (): void => {
    for (const bucket of lastOnes()) {
      const text = textOf(bucket)
      const isOver = bucket < watch.current()
      if (sent.get(bucket) === text || (!isOver && text === textOf(Number.NaN))) continue
      sent.set(bucket, text)
      send('rates', { at: new Date(bucket).toISOString(), ...watch.at(bucket) } satisfies ValueOf<typeof liveRates>)
    }
    for (const bucket of sent.keys()) if (bucket < watch.current() - 2 * bucketMs) sent.delete(bucket)
  }
  const timer = setInterval(showChanges, showEvery)
  onEnd(() => clearInterval(timer))
}
