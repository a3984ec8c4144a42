import type { BatchOrigin } from '#ledger/latest/sources.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, database, entityKey, viewOf } from '#schemas/derive/names.js'
import { type Layout, partitionsOf } from '#schemas/derive/topics.js'
import type { AnswerOf } from '#schemas/endpoints/endpoint.js'
import type { followRecord } from '#schemas/endpoints/requests.js'
import type { WaitState } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import { hasVersions, type RecordType, type Reference } from '#schemas/record.js'

/** One thing that happened to a record. */
export type JourneyStep = AnswerOf<typeof followRecord>['steps'][number] & { at: Date }

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

/** A record of the same id that waits or waited for others. */
export type WaitedVersion = {
  requestId: string
  batchId: string
  since: Date
  until: Date
  state: WaitState
  changedAt: Date
  missing: Reference[]
}

export type RecordName = { type: RecordType; orgId: string; id: string; layout: Layout }

/** The topic that a record's accepted events are on, their partition there, and their key. */
export const publishedTo = ({ type, orgId, id, layout }: RecordName) => {
  const topic = acceptedTopic(type.type)
  const key = entityKey(orgId, id)
  return { topic, key, partition: partitionOf(key, partitionsOf(layout, topic)) }
}

/** What happened to a record, oldest first. `before` is the version before the first that is shown, if any is left out. */
export const stepsOf = (
  given: RecordName,
  known: {
    versions: readonly RecordVersion[]
    before: RecordVersion | undefined
    refusals: readonly RefusedVersion[]
    waits: readonly WaitedVersion[]
    /** By batch id; without those that are not known any more. */
    sources: ReadonlyMap<string, BatchOrigin>
    /** Of the versions, where they were found on the topic. */
    offsets: ReadonlyMap<number, number>
  },
): JourneyStep[] => {
  const { type } = given
  const { topic, partition } = publishedTo(given)
  const newest = known.versions.at(-1)

  const received = (one: { requestId: string; batchId: string }, latest: Date): JourneyStep => {
    const { key_id = null, ...place } = known.sources.get(one.batchId) ?? {}
    return {
      at: earlier(timeOf(one.requestId), latest),
      kind: 'received',
      words: key_id === null ? 'Received in a request.' : `Received in a request, sent with the key ${key_id}.`,
      request_id: one.requestId,
      batch_id: one.batchId,
      ...(key_id !== null && { key_id }),
      ...place,
    }
  }

  const shown = new Set<WaitedVersion>()
  // What was decided after waiting has the batch that it first came in. The tables are written apart, so its wait may still say
  // `waiting`. What was decided when the wait began was another record of that batch, with the same id.
  const arrivalOf = (
    one: { requestId: string; batchId: string },
    state: 'accepted' | 'refused',
    decidedAt: Date,
  ): JourneyStep[] => {
    const wait = known.waits.find(
      (wait) =>
        wait.batchId === one.batchId &&
        (wait.state === state || wait.state === 'waiting') &&
        wait.since < decidedAt &&
        !shown.has(wait),
    )
    if (!wait) return [received(one, decidedAt)]
    shown.add(wait)
    return [received(one, wait.since), ...waitSteps({ ...wait, state })]
  }

  const ofVersion = (one: RecordVersion, before: RecordVersion | undefined): JourneyStep[] => {
    const { requestId, batchId, acceptedAt, version, values } = one
    const origin = { at: acceptedAt, request_id: requestId, batch_id: batchId, version }
    const offset = known.offsets.get(version)
    const published: JourneyStep = {
      ...origin,
      kind: 'published',
      words: `Published to ${topic}.`,
      topic,
      partition,
      ...(offset !== undefined && { offset }),
    }
    const verdict: JourneyStep = before
      ? { ...origin, ...changeOf(type, before.values, values) }
      : { ...origin, kind: 'accepted', words: 'Accepted: it is well-formed, and all that it refers to was known.' }
    const stored: JourneyStep[] =
      one === newest
        ? [{ at: acceptedAt, kind: 'stored', words: wordsOfRow(type, values), version, row: rowOf(one) }]
        : []
    return [...arrivalOf(one, 'accepted', acceptedAt), verdict, published, ...stored]
  }

  const accepted = known.versions.map((one, i) => ({
    version: one.version,
    decidedAt: one.acceptedAt,
    steps: ofVersion(one, i === 0 ? known.before : known.versions[i - 1]),
  }))
  const refused = known.refusals.map((one) => ({
    version: one.version,
    decidedAt: one.rejectedAt,
    steps: [...arrivalOf(one, 'refused', one.rejectedAt), refusedStep(one)],
  }))
  // By versions, which are places in the log, not by clocks.
  const decided = [...accepted, ...refused].sort((a, b) => a.version - b.version)
  // What waits or was left undecided has no version: it stands before what was decided after it came.
  const oldest = known.before?.acceptedAt ?? new Date(0)
  for (const wait of known.waits.filter((one) => !shown.has(one) && one.since > oldest)) {
    const after = decided.findIndex(({ decidedAt }) => decidedAt > wait.since)
    const steps = [received(wait, wait.since), ...waitSteps(wait)]
    decided.splice(after === -1 ? decided.length : after, 0, { version: 0, decidedAt: wait.since, steps })
  }
  return decided.flatMap(({ steps }) => steps)
}

const waitSteps = (wait: WaitedVersion): JourneyStep[] => {
  const origin = { request_id: wait.requestId, batch_id: wait.batchId }
  const names = wait.missing.map(({ type, id }) => `${type} ${id}`).join(', ')
  const isOver = wait.state !== 'waiting'
  const waited: JourneyStep = {
    ...origin,
    at: wait.since,
    kind: 'waited',
    words: isOver ? `Waited for ${names}.` : `Waits for ${names}, until ${wait.until.toISOString()} at the longest.`,
  }
  const end = (kind: 'superseded' | 'cancelled' | 'expired', words: string): JourneyStep[] => [
    waited,
    { ...origin, at: wait.changedAt, kind, words },
  ]
  switch (wait.state) {
    case 'superseded':
      return end('superseded', 'A newer record of this id came meanwhile, and counts instead.')
    case 'cancelled':
      return end('cancelled', 'Its waiting was cancelled: it was neither accepted nor refused.')
    case 'refused':
      return end('expired', `${names} did not come in time.`)
    default:
      return [waited]
  }
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
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
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
