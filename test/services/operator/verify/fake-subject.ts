import { deserialize, serialize } from 'node:v8'
import type { StoredVerdict } from '#ledger/verdicts.js'
import type { Wait } from '#ledger/waiting/look-up.js'
import type { Received } from '#platform/kafka/kafka.js'
import { laneOf, partitionOf, partitionOfLane, placeOf } from '#platform/kafka/partitions.js'
import { Undecodable } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import {
  acceptedTopic,
  entityKey,
  rejectedKey,
  rejectedTopic,
  submittedTopic,
  togetherOf,
} from '#schemas/derive/names.js'
import { type Layout, partitionsOf, usualLayout } from '#schemas/derive/topics.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { allKinds, createDifferences, type DifferenceKind } from '../../../../services/operator/verify/differences.js'
import { createExpectations } from '../../../../services/operator/verify/expectations.js'
import { idOf, orgOf } from '../../../../services/operator/verify/key-states.js'
import { partitionsBehind } from '../../../../services/operator/verify/log-places.js'
import { type CheckedType, noCounts, type Subject } from '../../../../services/operator/verify/subject.js'

export const now = Date.UTC(2026, 0, 31)

/** A batch in the submitted log, and the verdict on it. */
export type DecidedInLog = { type: RecordType; batch: SubmittedBatch; verdict: StoredVerdict }

/**
 * A subject of verification in memory: topics, verdicts and rows that a test fills as edge, integrity and sink would, and
 * leaves holes in. Events are encoded by v8: the same event always gives the same bytes.
 */
export const createFakeSubject = (options: { types: RecordType[]; org?: string; layout?: Layout }) => {
  const { layout = usualLayout } = options
  const log = new Map<string, Received[]>()
  const verdicts = new Map<string, StoredVerdict>()
  const waits: Wait[] = []
  const cursors = new Map<string, number>()
  const rows = {
    recent: new Map<string, number>(),
    old: new Map<string, number>(),
    rejections: new Map<string, number>(),
  }
  const differences = createDifferences(100)
  let onSend = (_: string): void => {}

  const append = (
    topic: string,
    partition: number,
    key: string | null,
    value: Buffer | null,
    timestamp = now,
  ): number => {
    const place = placeOf({ topic, partition })
    const messages = log.get(place) ?? []
    log.set(place, messages)
    const offset = (messages.at(-1)?.offset ?? -1) + 1
    messages.push({ offset, timestamp, key, value })
    return offset
  }
  const erased: { holes: Map<string, Set<number>>; at: number | undefined } = { holes: new Map(), at: undefined }
  const messagesIn = (topic: string, partition: number): Received[] => log.get(placeOf({ topic, partition })) ?? []

  const types = new Map<string, CheckedType>(
    options.types.map((type) => {
      const expectations = createExpectations((origin, offset) =>
        partitionsBehind({ catalogue, layouts: [layout] }, type.type, origin, offset),
      )
      return [
        type.type,
        { type, counts: noCounts(type.type), expectations, endedAnew: new Set<string>(), gone: new Map() },
      ]
    }),
  )
  async function* rowsOf(from: ReadonlyMap<string, number>, isWanted: (key: string) => boolean) {
    yield [...from]
      .filter(([key]) => isWanted(key))
      .map(([key, version]) => ({ org_id: orgOf(key), id: idOf(key), version }))
  }

  const subject: Subject = {
    catalogue,
    layout,
    layouts: [layout],
    types,
    differences,
    now,
    org: options.org,
    range: { since: Date.UTC(2026, 0, 1), until: undefined },
    progress: () => ({ advance: () => {}, end: () => {} }),
    registry: {
      encoder:
        async <T>() =>
        (value: T) =>
          serialize(value),
      decoder:
        <T>() =>
        async (message: Buffer | null) => {
          try {
            return deserialize(message as Buffer) as T
          } catch (cause) {
            throw new Undecodable('no event', { cause })
          }
        },
    },
    topics: {
      stretches: async (names, since = 0) =>
        names.flatMap((topic) =>
          Array.from({ length: partitionsOf(layout, topic) }, (_, partition) => {
            const messages = messagesIn(topic, partition)
            const until = (messages.at(-1)?.offset ?? -1) + 1
            return {
              topic,
              partition,
              from: messages.find(({ timestamp }) => timestamp >= since)?.offset ?? until,
              until,
            }
          }),
        ),
      read: async (stretches, onFetch) => {
        for (const { topic, partition, from, until } of stretches) {
          const messages = messagesIn(topic, partition).filter(({ offset }) => offset >= from && offset < until)
          if (messages.length > 0) await onFetch({ topic, partition, messages })
        }
      },
      committed: async () => new Map(),
      createProducer: async () => ({
        send: async (topic, partition, messages) => {
          for (const { key, value } of messages) append(topic, partition, key, value)
          onSend(topic)
        },
        close: async () => {},
      }),
    },
    decisions: {
      time: async () => now,
      cursors: async () => cursors,
      verdicts: async (ids) => new Map([...verdicts].filter(([id]) => ids.includes(id))),
      waits: async (ids) => waits.filter(({ batchId }) => ids.includes(batchId)),
      prunedBefore: async () => undefined,
      acceptedLosses: async () => [],
      holes: async (at) => erased.holes.get(placeOf(at)) ?? new Set(),
      erasedAt: async () => erased.at,
    },
    rows: {
      settle: async () => {},
      since: (_, { org }) => rowsOf(rows.recent, (key) => org === undefined || orgOf(key) === org),
      ofKeys: (_, keys) => rowsOf(new Map([...rows.old, ...rows.recent]), (key) => keys.includes(key)),
      rejections: async () => rows.rejections,
    },
  }

  return {
    subject,
    /** What erasures took out of the log, by `topic/partition`, and when the last of them had topics compacted. */
    erased,
    /** What Postgres knows of records that wait or waited. */
    waits,
    /** What ClickHouse holds: rows accepted in the range and before it, by key; how many rejections of each batch. */
    rows,
    /** Called after each send of the producer, with the topic. */
    onSend: (call: (topic: string) => void): void => {
      onSend = call
    },
    countsOf: (type: RecordType) => types.get(type.type)?.counts ?? noCounts(type.type),
    found: (): [DifferenceKind, string, string][] =>
      allKinds.flatMap((kind) =>
        differences.examples(kind).map(({ where, found }): [DifferenceKind, string, string] => [kind, where, found]),
      ),

    /** Appends a batch to the submitted log. */
    submit: (type: RecordType, batch: SubmittedBatch): { topic: string; partition: number; offset: number } => {
      const topic = submittedTopic(type.type)
      const id = String(batch.records[0]?.[type.id] ?? batch.refusals[0]?.id)
      const partition = partitionOfLane(batch.org_id, laneOf(id, layout.lanes), partitionsOf(layout, topic))
      const offset = append(topic, partition, batch.org_id, serialize(batch))
      return { topic, partition, offset }
    },
    /** Keeps a verdict on a batch that was submitted, and moves the cursor behind it. */
    decide: (
      type: RecordType,
      batch: SubmittedBatch,
      { topic, partition, offset }: { topic: string; partition: number; offset: number },
      over: Partial<StoredVerdict> = {},
    ): DecidedInLog => {
      const refused = batch.refusals.map(({ index, id, problems }) => ({ index, id, problems }))
      const { org_id, request_id, batch_id, first_index, body_sha256 } = batch
      const verdict: StoredVerdict = {
        ...{ org_id, request_id, batch_id, type: type.type, batch: 1, batches: 1, first_index, body_sha256 },
        ...{ decided_at: now - 3_600_000, accepted: batch.records.length, refused, repeated: [] },
        ...{ submitted_offset: offset, topic, partition },
        ...over,
      }
      verdicts.set(batch_id, verdict)
      cursors.set(placeOf({ topic, partition }), offset + 1)
      return { type, batch, verdict }
    },
    forget: ({ batch }: DecidedInLog): void => void verdicts.delete(batch.batch_id),

    /** Publishes the accepted events of a decided batch, of all its records or of some. */
    publish: ({ type, batch, verdict }: DecidedInLog, isPublished: (index: number) => boolean = () => true): void => {
      const topic = acceptedTopic(type.type)
      for (const [i, event] of createEventsOf(type).accepted(batch, verdict).entries()) {
        const key = entityKey(event.org_id, String(event[type.id]))
        if (isPublished(i)) append(topic, partitionOf(key, partitionsOf(layout, topic)), key, serialize(event))
      }
    },
    /** Publishes the rejections of a decided batch. */
    publishRejections: ({ type, batch, verdict }: DecidedInLog): void => {
      for (const event of createEventsOf(type).rejected(batch, verdict)) {
        const key = rejectedKey(event)
        append(rejectedTopic, partitionOf(togetherOf(key), partitionsOf(layout, rejectedTopic)), key, serialize(event))
      }
    },
    append,
    /** The messages of a topic, by their keys. */
    eventsOf: (topic: string, key: string): Received[] =>
      [...log].flatMap(([place, messages]) =>
        place.startsWith(`${topic}/`) ? messages.filter((message) => togetherOf(message.key ?? '') === key) : [],
      ),
    /** By `topic/partition`: all of every topic, as where sink and integrity are through with it. */
    ends: (): Map<string, number> =>
      new Map([...log].map(([place, messages]) => [place, (messages.at(-1)?.offset ?? -1) + 1])),
  }
}
