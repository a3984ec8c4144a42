import { isTheOneDecided, type StoredVerdict } from '#ledger/verdicts.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import { acceptedSchema, rejectedSchema, submittedSchema } from '#schemas/derive/avro.js'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import {
  acceptedTopic,
  entityKey,
  rejectedKey,
  rejectedTopic,
  subjectOf,
  submittedTopic,
} from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { generationOf, placeOfVersion } from '#schemas/version.js'
import { createDecoder } from '../command/decoder.js'
import { type ExpectedBatch, type LogPlace, missingOf } from './expectations.js'
import { idOf, orgOf } from './key-states.js'
import { partitionsBehind } from './log-places.js'
import type { Subject } from './subject.js'

/** An event as integrity published it, or should have. */
export type Made = { key: string; version: number; value: Buffer }

/** Makes a type's events again, byte for byte, from the submitted log and the stored verdicts. */
export const createEventMaker = async (subject: Subject, type: RecordType) => {
  const { registry } = subject
  const events = createEventsOf(type)
  const topic = acceptedTopic(type.type)
  const encodeAccepted = await registry.encoder<AcceptedEvent>(subjectOf(topic), acceptedSchema(type))
  const encodeRejected = await registry.encoder<RejectedEvent>(subjectOf(rejectedTopic), rejectedSchema())

  const accepted = ({ batch, verdict }: DecidedBatch): Made[] =>
    events.accepted(batch, verdict).map((event) => ({
      key: entityKey(event.org_id, String(event[type.id])),
      version: event.version,
      value: encodeAccepted(event),
    }))
  const rejected = ({ batch, verdict }: DecidedBatch): Made[] =>
    events.rejected(batch, verdict).map((event) => ({
      key: rejectedKey(event),
      version: event.version,
      value: encodeRejected(event),
    }))

  return {
    /** The events that these batches lack. */
    missing: async (lacking: readonly ExpectedBatch[]): Promise<{ accepted: Made[]; rejected: Made[] }> => {
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
    /** The event of each of these keys in this version; left out where the log or the verdicts no longer hold it. */
    ofVersions: async (wanted: readonly { key: string; version: number }[]): Promise<Made[]> => {
      const placed = wanted.flatMap(({ key, version }) => {
        const { offset } = placeOfVersion(version)
        const partitions = partitionsBehind(subject, type.type, { orgId: orgOf(key), id: idOf(key) }, offset)
        return partitions.map((partition) => ({ key, version, partition, offset }))
      })
      const decided = await readDecidedBatches(subject, type, placed)
      return placed.flatMap(({ key, version, partition, offset }) => {
        const found = decided.get(`${partition}/${offset}`)
        return found ? accepted(found).filter((made) => made.key === key && made.version === version) : []
      })
    },
  }
}

const only = (made: readonly Made[], indexes: readonly number[]): Made[] => {
  const wanted = new Set(indexes)
  return made.filter(({ version }) => wanted.has(placeOfVersion(version).index))
}

type DecidedBatch = { batch: SubmittedBatch; verdict: StoredVerdict }

/** The batches at these places of the submitted log with the verdicts that were taken on them, by `partition/offset`. */
const readDecidedBatches = async (
  { topics, registry, decisions }: Subject,
  type: RecordType,
  places: readonly LogPlace[],
): Promise<Map<string, DecidedBatch>> => {
  const wanted = new Set(places.map(({ partition, offset }) => `${partition}/${offset}`))
  const decode = createDecoder<SubmittedBatch>(registry, submittedSchema(type), { whole: true })
  const found = new Map<string, DecidedBatch>()
  await topics.read(spansOf(type.type, places), async ({ topic, partition, messages }) => {
    const batches = new Map<number, SubmittedBatch>()
    for (const { offset, value } of messages) {
      const batch = wanted.has(`${partition}/${offset}`) ? await decode(value) : undefined
      if (batch) batches.set(offset, batch)
    }
    const verdicts = await decisions.verdicts([...batches.values()].map((batch) => batch.batch_id))
    for (const [offset, batch] of batches) {
      const verdict = verdicts.get(batch.batch_id)
      if (verdict && isTheOneDecided(verdict, { topic, partition, offset }))
        found.set(`${partition}/${offset}`, { batch, verdict })
    }
  })
  return found
}

/** One stretch a partition, from its first wanted offset to its last. */
const spansOf = (type: string, places: readonly LogPlace[]) => {
  const spans = new Map<string, Stretch>()
  for (const { partition, offset } of places) {
    const topic = submittedTopic(type, generationOf(offset))
    const place = placeOf({ topic, partition })
    const { from, until } = spans.get(place) ?? { from: offset, until: 0 }
    spans.set(place, { topic, partition, from: Math.min(from, offset), until: Math.max(until, offset + 1) })
  }
  return [...spans.values()]
}
