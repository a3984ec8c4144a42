import { type AcceptedIn, findAcceptedFrom } from '#ledger/latest/accepted.js'
import { type Generation, partitionsOfOrg } from '#ledger/layout/layout.js'
import type { StoredVerdict } from '#ledger/verdicts.js'
import { groupBy } from '#platform/group-by.js'
import type { LogReader, Received } from '#platform/kafka/kafka.js'
import { placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import { generationOfSubmitted, submittedTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { placeOfVersion, versionOf } from '#schemas/version.js'
import type { LogPosition } from './cursor.js'
import type { ReadRemoved } from './read-removed.js'

// What was accepted, read again from the submitted log: the stored verdicts of an organisation lead to its batches, one by one, so that what
// it takes depends on that organisation alone, however much of others lies between.

/** An accepted record of a type, as it is published. */
export type FeedEvent = { type: RecordType; event: AcceptedEvent }

/** What comes next; `isEnd` where there is no more at this moment. */
export type LogRead = { events: FeedEvent[]; positions: Map<RecordType, LogPosition>; isEnd: boolean }

/** What comes next of a type is no longer kept. */
export class NoLongerKept extends Error {
  readonly type: RecordType
  constructor(type: RecordType) {
    super(`the log of ${type.type} no longer holds what comes next`)
    this.type = type
  }
}

/** With `until` nothing from there on: so the same comes again, whatever was decided since. */
export type ReadLog = (
  orgId: string,
  from: ReadonlyMap<RecordType, LogPosition>,
  most: number,
  until?: ReadonlyMap<RecordType, LogPosition>,
) => Promise<LogRead>

// Of each partition at once. A verdict may be on a single interaction, or on 500 records.
const mostVerdicts = 200
const batchesAtOnce = 16
const mostBytes = 8 * 1024 * 1024

export const createReadLog = (deps: {
  pool: Pool
  log: Pick<LogReader, 'messagesAt'>
  decoders: Pick<Registry, 'decoder'>
  findGenerations: () => Promise<readonly Generation[]>
  readRemoved: ReadRemoved
}): ReadLog => {
  const toolsOf = new Map<string, ReturnType<typeof createTools>>()
  const toolsFor = (type: RecordType) => {
    const tools = toolsOf.get(type.type) ?? createTools(type, deps.decoders)
    toolsOf.set(type.type, tools)
    return tools
  }

  /** The batches with their events, so many at a time; those of one partition are read together. */
  const readBatches = async function* (orgId: string, batches: readonly NextBatch[]) {
    for (let at = 0; at < batches.length; at += batchesAtOnce) {
      const some = batches.slice(at, at + batchesAtOnce)
      const messages = new Map<Place, Map<number, Received>>()
      for (const [place, here] of groupBy(some, (batch) => batch.place))
        messages.set(place, await deps.log.messagesAt(place, here.map(offsetOf)))
      for (const batch of some) {
        const { place, verdict } = batch
        const message = messages.get(place)?.get(offsetOf(batch))
        const { decode, accepted } = toolsFor(place.type)
        const submitted = message && (await decode(message.value))
        const offset = offsetOf(batch)
        // The log may have been cut since, and have grown again.
        const isThere = submitted?.batch_id === verdict.batch_id
        const all = isThere
          ? accepted(submitted, verdict)
          : await deps.readRemoved(orgId, place, { offset, batchId: verdict.batch_id })
        if (!all) throw new NoLongerKept(place.type)
        yield { place, offset, all, bytes: message?.value?.length ?? 0 }
      }
    }
  }

  return async (orgId, from, most, until) => {
    // Before the verdicts: where a generation is finished, all of its verdicts are found.
    const generations = await deps.findGenerations()
    const places = [...from].flatMap(([type, position]) => placesIn(orgId, type, position, generations))
    const found = await findAcceptedFrom(deps.pool, orgId, places, mostVerdicts)
    const decidedIn = new Map(found.map((each) => [placeOf(each), each]))
    for (const place of places)
      if (place.offset < (decidedIn.get(placeOf(place))?.prunedUntil ?? 0)) throw new NoLongerKept(place.type)
    const ends = new Map(places.map((place) => [place, endOf(place, until?.get(place.type))]))
    const isBefore = (place: Place, version: number): boolean => version < (ends.get(place) ?? 0)
    const batches = inTurn(places.map((place) => nextBatchesOf(place, decidedIn.get(placeOf(place))))).filter(
      ({ place, verdict }) => isBefore(place, versionOf(verdict.submitted_offset, 0)),
    )

    const next = new Map(places.map((place) => [place, place.next]))
    const events: FeedEvent[] = []
    let read = 0
    let bytes = 0
    for await (const { place, offset, all, bytes: more } of readBatches(orgId, batches)) {
      const fresh = all.filter(({ version }) => version >= place.next && isBefore(place, version))
      const some = firstOf(fresh, most - events.length)
      for (const event of some) events.push({ type: place.type, event })
      const isWhole = some.length === fresh.length
      next.set(place, isWhole ? versionOf(offset + 1, 0) : (some.at(-1)?.version ?? 0) + 1)
      if (!isWhole) break
      read++
      bytes += more
      if (events.length >= most || bytes >= mostBytes) break
    }

    const withMore = new Set(batches.slice(read).map(({ place }) => place))
    for (const place of places) {
      const decided = decidedIn.get(placeOf(place))
      if (withMore.has(place) || !decided) continue
      const last = decided.verdicts.at(-1)?.submitted_offset ?? 0
      if (decided.verdicts.length === mostVerdicts && isBefore(place, versionOf(last + 1, 0))) withMore.add(place)
      // Read up to there without another event of this organisation.
      else next.set(place, Math.max(next.get(place) ?? 0, versionOf(decided.decidedUntil, 0)))
    }
    const positions = new Map<RecordType, LogPosition>()
    let isEnd = true
    for (const [type, { generation }] of from) {
      const own = places.filter((place) => place.type === type)
      const isOver = !own.some((place) => withMore.has(place))
      const goesOn = isOver && generations.find((each) => each.generation === generation)?.state === 'finished'
      const here = { generation, next: Object.fromEntries(own.map((place) => [place.partition, next.get(place) ?? 0])) }
      positions.set(type, goesOn ? { generation: generation + 1, next: {} } : here)
      if (goesOn || !isOver) isEnd = false
    }
    return { events, positions, isEnd }
  }
}

/**
 * So many, or one more: a record that was accepted without its person has the version after its own, which may be that of another record, and
 * one goes on by version.
 */
const firstOf = (events: readonly AcceptedEvent[], most: number): AcceptedEvent[] => {
  const isOfLast = events[most]?.version === events[most - 1]?.version
  return events.slice(0, isOfLast ? most + 1 : most)
}

const offsetOf = ({ verdict }: NextBatch): number => verdict.submitted_offset

const createTools = (type: RecordType, { decoder }: Pick<Registry, 'decoder'>) => ({
  decode: decoder<SubmittedBatch>(submittedSchema(type)),
  accepted: createEventsOf(type).accepted,
})

/** The version in a partition from which on nothing is wanted: none, where `until` is in a later generation. */
const endOf = ({ topic, partition }: Place, until: LogPosition | undefined): number =>
  until === undefined || until.generation > generationOfSubmitted(topic)
    ? Number.POSITIVE_INFINITY
    : (until.next[partition] ?? 0)

/** A partition that is read: the version that comes next, and the offset of its batch. */
export type Place = TopicPartition & { type: RecordType; next: number; offset: number }

export const placesIn = (
  orgId: string,
  type: RecordType,
  { generation, next }: LogPosition,
  generations: readonly Generation[],
): Place[] => {
  const layout = generations.find((each) => each.generation === generation)
  // A cursor of a system that was wider than this one ever was.
  if (!layout) throw new NoLongerKept(type)
  const topic = submittedTopic(type.type, generation)
  return partitionsOfOrg(type, orgId, layout).map((partition) => {
    const version = next[partition] ?? 0
    return { type, topic, partition, next: version, offset: placeOfVersion(version).offset }
  })
}

type NextBatch = { place: Place; verdict: StoredVerdict }

const nextBatchesOf = (place: Place, found: AcceptedIn | undefined): NextBatch[] =>
  (found?.verdicts ?? []).map((verdict) => ({ place, verdict }))

/** Of several partitions the one that was decided first; within a partition always in the order of the log, whatever its clock said. */
const inTurn = (partitions: readonly (readonly NextBatch[])[]): NextBatch[] => {
  const left = partitions.map((batches) => [...batches])
  const all: NextBatch[] = []
  for (;;) {
    const next = left
      .filter((batches) => batches.length > 0)
      .reduce<NextBatch[] | undefined>(
        (first, other) => (first && timeOf(first) <= timeOf(other) ? first : other),
        undefined,
      )
    const batch = next?.shift()
    if (!batch) return all
    all.push(batch)
  }
}

const timeOf = ([first]: readonly NextBatch[]): number => first?.verdict.decided_at ?? Number.POSITIVE_INFINITY
