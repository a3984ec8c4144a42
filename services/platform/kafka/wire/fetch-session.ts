import type { Broker } from 'kafkajs'
import { changingCalls } from './broker-call.js'
import { decodeFetchAnswer } from './fetch-answer.js'

/** As kafkajs says it. */
type FetchRequest = Parameters<Broker['fetch']>[0]
type WantedTopic = FetchRequest['topics'][number]
type FetchAnswer = Awaited<ReturnType<typeof decodeFetchAnswer>>

/** The one version of a fetch that we write ourselves: Kafka speaks it since 2.3, and kafkajs no later one. */
const sessionVersion = 11

/** How a broker is fetched from: what it sends is unpacked up to a bound, and a consumer, which comes again and again, has a session. */
export const createFetch = (
  broker: Broker,
  options: { bytesPerFetch: number; inSession: boolean },
): ((request: FetchRequest) => Promise<FetchAnswer>) => {
  const { fetch } = broker
  const session = createFetchSession()
  const send = (request: FetchRequest, encode?: (request: FetchRequest) => Buffer): Promise<FetchAnswer> => {
    const offsetOf = offsetsIn(request)
    const changed = changingCalls(broker, (call) => {
      const { apiVersion: version } = call.request
      const decode = (answer: Buffer) => decodeFetchAnswer(answer, { version, offsetOf, bytes: options.bytesPerFetch })
      const own = { ...call, response: { ...call.response, decode } }
      if (!encode || version !== sessionVersion) return own
      const bytes = encode(request)
      return { ...own, request: { ...call.request, encode: async () => ({ buf: bytes, buffer: bytes }) } }
    })
    return fetch.call(changed, request)
  }
  const sendInSession = async (request: FetchRequest): Promise<FetchAnswer> => {
    try {
      const answer = await send(request, session.ask)
      return session.answered(answer) ? answer : await sendInSession(request)
    } catch (error) {
      session.failed()
      throw error
    }
  }
  return (request) => (options.inSession && !session.isUnderWay() ? sendInSession(request) : send(request))
}

const offsetsIn =
  ({ topics }: FetchRequest) =>
  (name: string, number: number): number => {
    const asked = topics.find(({ topic }) => topic === name)?.partitions.find(({ partition }) => partition === number)
    return Number(asked?.fetchOffset ?? 0)
  }

/** What Kafka answers to a session that it has dropped, or that is not where it thinks it is. */
const sessionErrors: readonly number[] = [70, 71]
const lastEpoch = 2 ** 31 - 1

/**
 * Kafka can keep the list of what a consumer fetches. A fetch then names only what has changed since the one before it, and the answer
 * only partitions that have something new. Without that, an idle integrity named its hundred partitions to each broker four times a second,
 * read as many answers that said "nothing", and spent more on it than on a small load.
 */
const createFetchSession = () => {
  let id = 0
  // Zero begins a new session, and ends the one with this id, if Kafka has it.
  let epoch = 0
  let isUnderWay = false
  /** What Kafka has on its list: where each partition is read next, by topic. */
  const listed = new Map<string, Map<number, string>>()
  const beginAnew = (): void => {
    epoch = 0
    listed.clear()
  }
  const list = ({ topic, partitions }: WantedTopic): WantedTopic[] => {
    const known = listed.get(topic) ?? new Map<number, string>()
    listed.set(topic, known)
    const changed = partitions.filter(({ partition, fetchOffset }) => known.get(partition) !== fetchOffset)
    for (const { partition, fetchOffset } of changed) known.set(partition, fetchOffset)
    return changed.length > 0 ? [{ topic, partitions: changed }] : []
  }
  /** Takes what is no longer wanted off the list, and tells it. */
  const forget = (wanted: readonly WantedTopic[]): { topic: string; partitions: number[] }[] => {
    const wantedCount = wanted.reduce((sum, { partitions }) => sum + partitions.length, 0)
    const listedCount = [...listed.values()].reduce((sum, { size }) => sum + size, 0)
    if (wantedCount === listedCount) return []
    const still = new Map(wanted.map(({ topic, partitions }) => [topic, new Set(partitions.map((p) => p.partition))]))
    return [...listed].flatMap(([topic, known]) => {
      const gone = [...known.keys()].filter((partition) => !still.get(topic)?.has(partition))
      for (const partition of gone) known.delete(partition)
      return gone.length > 0 ? [{ topic, partitions: gone }] : []
    })
  }
  return {
    /** Whether a fetch is under way in this session: another one beside it has to go without. */
    isUnderWay: () => isUnderWay,
    /** The bytes of the next request. `answered` or `failed` has to follow. */
    ask: (request: FetchRequest): Buffer => {
      isUnderWay = true
      const changed = request.topics.flatMap(list)
      return encode({ ...request, topics: changed, id, epoch, forgotten: forget(request.topics) })
    },
    /** Whether Kafka knew the session. If not, it is to be asked again: with everything, then. */
    answered: (answer: { errorCode: number; sessionId: number }): boolean => {
      isUnderWay = false
      const wasKnown = !sessionErrors.includes(answer.errorCode)
      // A broker whose memory for sessions is full answers with none.
      if (!wasKnown || answer.sessionId === 0) beginAnew()
      else {
        id = answer.sessionId
        epoch = epoch === lastEpoch ? 1 : epoch + 1
      }
      return wasKnown
    },
    /** The request got no answer, so that Kafka may have taken it or not: the next one begins a new session. */
    failed: (): void => {
      isUnderWay = false
      beginAnew()
    },
  }
}

const readCommitted = 1

const encode = (
  request: FetchRequest & { id: number; epoch: number; forgotten: { topic: string; partitions: number[] }[] },
): Buffer => {
  const { topics, forgotten, rackId = '' } = request
  const sizeOf = (lists: readonly { topic: string; partitions: readonly unknown[] }[], each: number) =>
    lists.reduce((sum, { topic, partitions }) => sum + 6 + Buffer.byteLength(topic) + each * partitions.length, 0)
  const bytes = Buffer.allocUnsafe(35 + sizeOf(topics, 28) + sizeOf(forgotten, 4) + Buffer.byteLength(rackId))
  let at = bytes.writeInt32BE(request.replicaId ?? -1)
  const int32 = (value: number) => {
    at = bytes.writeInt32BE(value, at)
  }
  const text = (value: string) => {
    at = bytes.writeInt16BE(Buffer.byteLength(value), at)
    at += bytes.write(value, at)
  }
  int32(request.maxWaitTime ?? 0)
  int32(request.minBytes ?? 1)
  int32(request.maxBytes ?? 0)
  at = bytes.writeInt8(request.isolationLevel ?? readCommitted, at)
  int32(request.id)
  int32(request.epoch)
  int32(topics.length)
  for (const { topic, partitions } of topics) {
    text(topic)
    int32(partitions.length)
    for (const { partition, fetchOffset, maxBytes } of partitions) {
      int32(partition)
      // No leader epoch is known.
      int32(-1)
      at = bytes.writeBigInt64BE(BigInt(fetchOffset), at)
      // Only a follower says where its log begins.
      at = bytes.writeBigInt64BE(-1n, at)
      int32(maxBytes)
    }
  }
  int32(forgotten.length)
  for (const { topic, partitions } of forgotten) {
    text(topic)
    int32(partitions.length)
    for (const partition of partitions) int32(partition)
  }
  text(rackId)
  return bytes
}
