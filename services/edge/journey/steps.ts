import { partitionOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, database, entityKey, viewOf } from '#schemas/derive/names.js'
import { type Layout, partitionsOf } from '#schemas/derive/topics.js'
import type { Problem } from '#schemas/problem.js'
import { hasVersions, type RecordType } from '#schemas/record.js'

/** One thing that happened to a record. */
export type JourneyStep = {
  at: Date
  kind: 'received' | 'accepted' | 'refused' | 'published' | 'stored' | 'changed' | 'deleted'
  /** For people. */
  words: string
  request_id?: string
  batch_id?: string
  problems?: Problem[]
  topic?: string
  partition?: number
  offset?: number
  version?: number
  row?: Record<string, unknown>
  changes?: FieldChange[]
}
export type FieldChange = { field: string; before: unknown; after: unknown }

/** A version of a record, as ClickHouse keeps it. */
export type RecordVersion = {
  requestId: string
  batchId: string
  acceptedAt: Date
  version: number
  /** The record's own fields. */
  values: Record<string, unknown>
}

/** A refused record of the same id. */
export type RefusedVersion = {
  requestId: string
  batchId: string
  rejectedAt: Date
  version: number
  problems: Problem[]
}

/** Where a batch lies in the submitted log. */
export type PlaceInLog = { topic: string; partition: number; offset: number }

/**
 * What happened to a record, oldest first, from its versions and refusals in the order of their versions. `before` is the version
 * before the first that is shown, where older ones are left out.
 */
export const stepsOf = (
  given: { type: RecordType; orgId: string; id: string; layout: Layout },
  known: {
    versions: readonly RecordVersion[]
    before: RecordVersion | undefined
    refusals: readonly RefusedVersion[]
    placeOf: (batchId: string) => PlaceInLog | undefined
  },
): JourneyStep[] => {
  const { type } = given
  const topic = acceptedTopic(type.type)
  const partition = partitionOf(entityKey(given.orgId, given.id), partitionsOf(given.layout, topic))
  const newest = known.versions.at(-1)

  const received = (one: { requestId: string; batchId: string }, latest: Date): JourneyStep => ({
    at: earlier(timeOf(one.requestId), latest),
    kind: 'received',
    words: 'Received in a request.',
    request_id: one.requestId,
    batch_id: one.batchId,
    ...known.placeOf(one.batchId),
  })

  const ofVersion = (one: RecordVersion, before: RecordVersion | undefined): JourneyStep[] => {
    const { requestId, batchId, acceptedAt, version, values } = one
    const origin = { at: acceptedAt, request_id: requestId, batch_id: batchId, version }
    const published: JourneyStep = { ...origin, kind: 'published', words: `Published to ${topic}.`, topic, partition }
    const verdict: JourneyStep = before
      ? { ...origin, ...changeOf(type, before.values, values) }
      : { ...origin, kind: 'accepted', words: 'Accepted: it is well-formed, and all that it refers to was known.' }
    const stored: JourneyStep[] =
      one === newest
        ? [{ at: acceptedAt, kind: 'stored', words: wordsOfRow(type, values), version, row: rowOf(one) }]
        : []
    return [received(one, acceptedAt), verdict, published, ...stored]
  }

  const accepted = known.versions.map((one, i) => ({
    version: one.version,
    steps: ofVersion(one, i === 0 ? known.before : known.versions[i - 1]),
  }))
  const refused = known.refusals.map((one) => ({
    version: one.version,
    steps: [received(one, one.rejectedAt), refusedStep(one)],
  }))
  // By versions, which are places in the log, not by clocks.
  return [...accepted, ...refused].sort((a, b) => a.version - b.version).flatMap(({ steps }) => steps)
}

const refusedStep = ({ requestId, batchId, rejectedAt, version, problems }: RefusedVersion): JourneyStep => {
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : ''
  return {
    at: rejectedAt,
    kind: 'refused',
    words: `Refused: ${problems[0]?.message ?? 'no reason was given'}${more}.`,
    request_id: requestId,
    batch_id: batchId,
    version,
    problems,
  }
}

const changeOf = (type: RecordType, before: Record<string, unknown>, after: Record<string, unknown>) => {
  const changes = Object.keys(type.fields)
    .map((field): FieldChange => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after))
  const isDeleted = Boolean(after.is_deleted) && !before.is_deleted
  const names = changes.map(({ field }) => field).join(', ')
  const words = changes.length > 0 ? `Changed: ${names}.` : 'Sent again; nothing changed.'
  return { kind: isDeleted ? 'deleted' : 'changed', words: isDeleted ? 'Deleted.' : words, changes } as const
}

const wordsOfRow = (type: RecordType, values: Record<string, unknown>): string => {
  const view = `${database}.${viewOf(type.type)}`
  if (!values.is_deleted) return `In the table ${view}.`
  return `In the history ${view}_history; ${view} no longer shows it, because it is deleted.`
}

const rowOf = ({ values, requestId, batchId, acceptedAt, version }: RecordVersion): Record<string, unknown> => ({
  request_id: requestId,
  batch_id: batchId,
  accepted_at: acceptedAt,
  version,
  ...values,
})

/** When a request came: ids that are not derived from an Idempotency-Key hold the moment at which they were made. */
const timeOf = (requestId: string): Date | undefined =>
  requestId.charAt(14) === '7' ? new Date(Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16)) : undefined

const earlier = (time: Date | undefined, latest: Date): Date => (time && time < latest ? time : latest)

/** How many versions of a record there can be: one where the service gives the id. */
export const mostVersionsOf = (type: RecordType): number => (hasVersions(type) ? 100 : 1)
