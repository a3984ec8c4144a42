import { LRUCache } from 'lru-cache'
import type { Log } from '#platform/health/log.js'
import type { Kafka, PartitionReader, Received } from '#platform/kafka/kafka.js'
import { within } from '#platform/process/within.js'
import { type Registry, Undecodable } from '#platform/registry.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import type { RecordType } from '#schemas/record.js'
import { createReads } from '../reads.js'

/** Where the events of one record are: their topic and partition, and their key there. */
export type RecordEvents = { orgId: string; type: RecordType; topic: string; partition: number; key: string }

/** A version of the record, and when it was accepted (in milliseconds). */
export type SoughtVersion = { version: number; acceptedAt: number }

/** The offsets of those of these versions, newest last, that were found on their topic, by version. Never rejects. */
export type FindOffsets = (events: RecordEvents, sought: readonly SoughtVersion[]) => Promise<Map<number, number>>

// Somebody waits for the answer, which is as good without offsets. What one question does not find the next one goes on with.
const answerWithin = 2_000
const stopReadingAfter = 1_500
const mostVersions = 20
// After Kafka failed, no question waits for it again for this long.
const restFor = 10_000
const missedFor = 60_000
const foundFor = 3_600_000

/** Looks for events on their topics, and remembers where they are: a page that shows a journey asks again every few seconds. */
export const createFindOffsets = (deps: {
  kafka: Pick<Kafka, 'withPartitionReader'>
  decoders: Pick<Registry, 'decoder'>
  now: () => number
  log: Log
}): FindOffsets => {
  const { kafka, now, log } = deps
  /** Null where a search has come to its end without the version. */
  const known = new LRUCache<string, { offset: number | null }>({ max: 10_000, ttl: foundFor })
  const inTurn = createReads(answerWithin, 'topics', { atOnce: 4, ofOne: 1 })
  let restUntil = Number.NEGATIVE_INFINITY
  const versionsIn = new Map<string, VersionIn>()
  const versionIn = (type: RecordType): VersionIn => {
    const made = versionsIn.get(type.type) ?? createVersionIn(type, deps.decoders)
    versionsIn.set(type.type, made)
    return made
  }

  const search = async (events: RecordEvents, sought: readonly SoughtVersion[]): Promise<void> => {
    const stopAt = now() + stopReadingAfter
    const { topic, partition, key } = events
    const note = (version: number, offset: number | null): void => {
      known.set(nameOf(events, version), { offset }, offset === null ? { ttl: missedFor } : {})
    }
    const wanted = { key, versionIn: versionIn(events.type), sought, mayGoOn: () => now() < stopAt }
    try {
      await kafka.withPartitionReader({ topic, partition, ms: answerWithin }, (reader) =>
        searchOffsets(reader, wanted, note),
      )
    } catch (error) {
      restUntil = now() + restFor
      log.warn({ err: error, topic, partition }, 'a topic could not be searched for a record')
    }
  }

  return async (events, versions) => {
    const sought = versions.slice(-mostVersions)
    const unknown = () => sought.filter(({ version }) => !known.has(nameOf(events, version)))
    if (unknown().length > 0 && now() >= restUntil) {
      // Asked again when its turn has come: the question before it may have looked for the same.
      const searching = inTurn(events.orgId, async () => {
        if (unknown().length > 0) await search(events, unknown())
      })
      await within(answerWithin, searching).catch((error) =>
        log.debug({ err: error, topic: events.topic }, 'a record was not found on its topic in time'),
      )
    }
    const found = new Map<number, number>()
    for (const { version } of sought) {
      const offset = known.get(nameOf(events, version))?.offset ?? null
      if (offset !== null) found.set(version, offset)
    }
    return found
  }
}

const nameOf = ({ topic, key }: RecordEvents, version: number): string => `${topic}/${key}/${version}`

/** Undefined for a message that cannot be read. */
type VersionIn = (message: Buffer | null) => Promise<number | undefined>

const createVersionIn = (type: RecordType, { decoder }: Pick<Registry, 'decoder'>): VersionIn => {
  const decode = decoder<{ version: number }>(acceptedSchema(type))
  return (message) =>
    decode(message).then(
      ({ version }) => version,
      (error: unknown) => {
        if (error instanceof Undecodable) return undefined
        throw error
      },
    )
}

const bounds = { messages: 20_000, ofOneVersion: 10_000, bytes: 16 * 1024 * 1024 }
// An event is published within moments of its decision, unless Kafka or integrity was away. Where all that is left on the topic is
// much younger than the decision, the event is gone.
const publishedWithin = 3_600_000

/**
 * Looks for versions, the newest first: from the moment at which each was accepted, until it is met. `note` is called with its offset, or
 * with null where it is not there, or too far behind that moment. An event can be on its topic twice, after integrity was killed: the
 * first one counts.
 */
export const searchOffsets = async (
  reader: PartitionReader,
  wanted: { key: string; versionIn: VersionIn; sought: readonly SoughtVersion[]; mayGoOn: () => boolean },
  note: (version: number, offset: number | null) => void,
  most = bounds,
): Promise<void> => {
  const left = { messages: most.messages, bytes: most.bytes }

  const offsetIn = async (messages: readonly Received[], version: number): Promise<number | undefined> => {
    for (const { key, offset, value } of messages)
      if (key === wanted.key && (await wanted.versionIn(value)) === version) return offset
    return undefined
  }

  /** Null where the search came to its end, undefined where it was broken off. */
  const lookFor = async ({ version, acceptedAt }: SoughtVersion): Promise<number | null | undefined> => {
    let leftForThis = most.ofOneVersion
    let from = await reader.offsetAt(acceptedAt)
    while (from !== undefined && leftForThis > 0) {
      if (!wanted.mayGoOn() || left.messages <= 0 || left.bytes <= 0) return undefined
      const read = await reader.read(from)
      if (!read) return null
      const { messages, next } = read
      left.messages -= messages.length
      leftForThis -= messages.length
      for (const { value } of messages) left.bytes -= value?.length ?? 0
      const found = await offsetIn(messages, version)
      if (found !== undefined) return found
      if ((messages.at(-1)?.timestamp ?? 0) > acceptedAt + publishedWithin) return null
      from = next
    }
    return null
  }

  for (const one of wanted.sought.toReversed()) {
    const offset = await lookFor(one)
    if (offset === undefined) return
    note(one.version, offset)
  }
}
