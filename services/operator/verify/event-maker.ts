import { partitionOf } from '#platform/kafka/partitions.js'
import { acceptedSchema, rejectedSchema } from '#schemas/derive/avro.js'
import { createEventsOf, mostRecordsInBatch } from '#schemas/derive/decided-events.js'
import { acceptedTopic, entityKey, rejectedTopic, subjectOf, submittedTopic } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import type { AcceptedEvent, RejectedEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { type DecidedBatch, readDecidedBatches } from './decided-batches.js'
import { type Expected, missingOf } from './expectations.js'
import { orgOf } from './key-states.js'
import type { Subject } from './subject.js'

/** An event as integrity published it, or should have. */
export type Made = { key: string; version: number; value: Buffer }

/** Makes a type's events again, byte for byte, from the submitted log and the stored verdicts. */
export const createEventMaker = async (subject: Subject, type: RecordType) => {
  const { registry, catalogue } = subject
  const events = createEventsOf(type)
  const topic = acceptedTopic(type.type)
  const encodeAccepted = await registry.encoder<AcceptedEvent>(subjectOf(topic), acceptedSchema(type))
  const encodeRejected = await registry.encoder<RejectedEvent>(subjectOf(rejectedTopic), rejectedSchema())
  const logPartitions = partitionsOf(catalogue, submittedTopic(type.type))

  const accepted = ({ batch, verdict }: DecidedBatch): Made[] =>
    events.accepted(batch, verdict).map((event) => ({
      key: entityKey(event.org_id, String(event[type.id])),
      version: event.version,
      value: encodeAccepted(event),
    }))
  const rejected = ({ batch, verdict }: DecidedBatch): Made[] =>
    events.rejected(batch, verdict).map((event) => ({
      key: entityKey(event.org_id, event.batch_id),
      version: event.version,
      value: encodeRejected(event),
    }))

  return {
    /** The events that these batches lack. */
    missing: async (lacking: readonly Expected[]): Promise<{ accepted: Made[]; rejected: Made[] }> => {
      const decided = await readDecidedBatches(subject, type, lacking)
      const made: { accepted: Made[]; rejected: Made[] } = { accepted: [], rejected: [] }
      for (const each of lacking) {
        const found = decided.get(`${each.partition}/${each.offset}`)
        if (!found) continue
        made.accepted.push(...only(accepted(found), missingOf(each, 'accepted')))
        made.rejected.push(...only(rejected(found), missingOf(each, 'refused')))
      }
      return made
    },
    /** The event of each of these keys in this version; none where the log or the verdicts do not tell of it. */
    ofVersions: async (wanted: readonly { key: string; version: number }[]): Promise<Made[]> => {
      const placed = wanted.map(({ key, version }) => ({
        key,
        version,
        partition: partitionOf(orgOf(key), logPartitions),
        offset: Math.floor(version / mostRecordsInBatch),
      }))
      const decided = await readDecidedBatches(subject, type, placed)
      return placed.flatMap(({ key, version, partition, offset }) => {
        const found = decided.get(`${partition}/${offset}`)
        return found ? accepted(found).filter((made) => made.key === key && made.version === version) : []
      })
    },
  }
}

export type EventMaker = Awaited<ReturnType<typeof createEventMaker>>

const only = (made: readonly Made[], indexes: readonly number[]): Made[] => {
  const wanted = new Set(indexes)
  return made.filter(({ version }) => wanted.has(version % mostRecordsInBatch))
}
