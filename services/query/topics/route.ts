import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError } from '#http/request-error.js'
import { hasValue } from '#platform/kafka/kafka.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { publicTopicsOf } from '#schemas/derive/topic-reference/topic-reference.js'
import { listTopicEvents, watchTopic } from '#schemas/endpoints/downstream/topics.js'
import type { EventStream, Streams } from '../live/streams.js'
import type { Followers } from './followers.js'
import type { FindOlder } from './older-events.js'
import { lastOf, type Tail, type TailEvent, type TailMessage } from './tail.js'

export type TopicEventDeps = {
  catalogue: Catalogue
  followers: Pick<Followers, 'follow'>
  findOlder: FindOlder
  decoders: Pick<Registry, 'decoder'>
}

const shown = 20
const showEvery = 250
const mostAtOnce = 512 * 1024

/** GET /v1/topics/{topic}/events, and …/live: the last events of one's own organisation, as subscribers read them. */
export const addTopicEvents = (app: FastifyInstance, deps: TopicEventDeps & { streams: Streams }): void => {
  const topics = publicTopicsOf(deps.catalogue).map(({ name }) => name)
  const schemas = schemasByTopic(deps.catalogue.all.values())
  const decoders = new Map(
    topics.map((topic) => [topic, deps.decoders.decoder<{ org_id: string }>(schemas.get(topic))]),
  )

  const topicIn = ({ topic }: { topic: string }): { name: string; decode: Decode } | { error: RequestError } => {
    const decode = decoders.get(topic)
    return decode ? { name: topic, decode } : { error: noSuchTopic(topic, topics) }
  }

  /** Those before the end of the topic, where that holds too few. */
  const olderThan = async (tail: Tail, topic: string, orgId: string, most: number): Promise<TailMessage[]> =>
    tail.lastOf(orgId, most).length < most ? deps.findOlder(topic, orgId, most) : []

  const list = on(listTopicEvents, async ({ query: { limit }, parameters }, request) => {
    const topic = topicIn(parameters)
    if ('error' in topic) return topic
    const { orgId } = callerOf(request)
    const { tail, leave } = await deps.followers.follow(topic.name)
    try {
      const older = await olderThan(tail, topic.name, orgId, limit)
      const last = lastOf([...older, ...tail.lastOf(orgId, limit)], limit)
      return { events: await eventsOf(orgId, last, topic.decode), next: null }
    } finally {
      leave()
    }
  })

  const live = on(watchTopic, async ({ parameters }, request, reply) => {
    const topic = topicIn(parameters)
    if ('error' in topic) return topic
    const { orgId } = callerOf(request)
    const gone = new AbortController()
    const { tail, leave } = await deps.followers.follow(topic.name, () => gone.abort())
    const older = await olderThan(tail, topic.name, orgId, shown)
    return deps.streams.open(request, reply, leave, (stream) => {
      const end = () => stream.end('the topic cannot be read at the moment')
      show(orgId, tail, older, topic.decode, stream)
      if (gone.signal.aborted) end()
      else gone.signal.addEventListener('abort', end)
    })
  })

  addEndpoints(app, deps.catalogue, [list, live])
}

type Decode = (message: Buffer) => Promise<{ org_id: string }>

/** First the last events, then new ones. Of very many at once only the last are shown, and how many were passed over. */
const show = (
  orgId: string,
  tail: Tail,
  older: readonly TailMessage[],
  decode: Decode,
  { send, onEnd }: EventStream,
): void => {
  let waiting = lastOf([...older, ...tail.lastOf(orgId, shown)], shown)
  let skipped = 0
  let isBusy = false
  const flush = async (): Promise<void> => {
    if (isBusy || waiting.length === 0) return
    isBusy = true
    const messages = waiting
    waiting = []
    const events = await eventsOf(orgId, messages, decode)
    const fitting = lastThatFit(events)
    const left = skipped + events.length - fitting.length
    skipped = 0
    if (left > 0) send('skipped', { count: left })
    for (const event of fitting) send('event', event)
    isBusy = false
  }
  const ignore = tail.listen(orgId, (message) => {
    if (!hasValue(message)) return
    waiting.push(message)
    if (waiting.length > shown) {
      waiting.shift()
      skipped++
    }
  })
  void flush()
  const timer = setInterval(flush, showEvery)
  onEnd(() => {
    clearInterval(timer)
    ignore()
  })
}

/** Events can be large, and a stream of which much is unread is taken for one that is not read. */
const lastThatFit = <T>(events: readonly T[]): T[] => {
  let bytes = 0
  const fitting: T[] = []
  for (const event of events.toReversed()) {
    bytes += JSON.stringify(event).length
    if (bytes > mostAtOnce && fitting.length > 0) break
    fitting.unshift(event)
  }
  return fitting
}

/** Decoded. The key says whose an event is, and the event itself has to say the same; one that cannot be read is left out. */
const eventsOf = async (orgId: string, messages: readonly TailEvent[], decode: Decode) => {
  const events = await Promise.all(
    messages.map(async ({ partition, offset, timestamp, key, value }) => {
      const decoded = await decode(value).catch(() => undefined)
      if (decoded?.org_id !== orgId) return []
      return [{ partition, offset, at: new Date(timestamp).toISOString(), key, value: decoded }]
    }),
  )
  return events.flat()
}

const noSuchTopic = (given: string, topics: readonly string[]): RequestError => {
  const close = nearest(given, topics)
  return requestError(
    404,
    `there is no such public topic; ${close ? `did you mean ${close}?` : 'GET /v1/topics lists them'}`,
  )
}
