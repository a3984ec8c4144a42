import { partitionOf } from '#platform/kafka/partitions.js'
import { newlyAccepted, type PlacedVerdict } from '#schemas/derive/decided-events.js'
import { entityKey } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { placeOfVersion } from '#schemas/version.js'
import type { Origin } from './log-places.js'

/** What must come of a record; `…Seen` once its event was found on its topic. */
export const fate = { none: 0, accepted: 1, acceptedSeen: 2, refused: 3, refusedSeen: 4 } as const

/** A place in the submitted log of a type. */
export type LogPlace = { partition: number; offset: number }

/** What must come of one batch: 5 bytes a record and lane, so that a day of uploads fits into memory. */
export type ExpectedBatch = LogPlace & {
  batchId: string
  decidedAt: number
  /** Whether its events may still be on their way to the topics. */
  isInFlight: boolean
  fates: Uint8Array
  /** A hash of each accepted record's key. */
  marks: Uint32Array
  /** Of a batch in which records that waited are decided anew: the batches that they came in, by their places in this one. */
  origins: ReadonlyMap<number, string> | undefined
  /** Refused records in all, and those whose rejection the sink must have written by now. */
  refused: number
  written: number
}

/** What must come of a batch, by the verdict on it. `verdict` is null where the batch repeats an earlier one: nothing must. */
export const expect = (
  place: LogPlace & { isInFlight: boolean },
  batch: SubmittedBatch,
  verdict: PlacedVerdict | null,
  idField: string,
): ExpectedBatch => {
  const records = 1 + Math.max(batch.records.at(-1)?.index ?? -1, batch.refusals.at(-1)?.index ?? -1)
  const expected: ExpectedBatch = {
    ...place,
    batchId: batch.batch_id,
    decidedAt: verdict?.decided_at ?? 0,
    fates: new Uint8Array(verdict ? records : 0),
    marks: new Uint32Array(verdict ? records : 0),
    origins: batch.resumed?.length ? new Map(batch.resumed.map((each) => [each.index, each.batch_id])) : undefined,
    refused: verdict?.refused.length ?? 0,
    written: 0,
  }
  if (!verdict) return expected
  for (const { index } of verdict.refused) expected.fates[index] = fate.refused
  for (const record of newlyAccepted(batch, verdict)) {
    expected.fates[record.index] = fate.accepted
    expected.marks[record.index] = markOf(entityKey(batch.org_id, String(record[idField])))
  }
  return expected
}

/** An event, as far as it shows where it comes from. A rejection's key does not hold the record's id: there it is null. */
type Sighting = Origin & { key: string; batchId: string; version: number }

/** Whether an event was expected. `outside`: its batch is not in the range, or it is not known what should come of it. */
export type Seen = { as: 'expected' | 'again' | 'unfounded'; expected: ExpectedBatch } | { as: 'outside' }

/** The batches of one type, by their places. `partitionsFor` tells where an event can come from. */
export const createExpectations = (partitionsFor: (origin: Origin, offset: number) => readonly number[]) => {
  const byPlace = new Map<string, ExpectedBatch>()
  /**
   * By the batch that an event names, and its offset: events of records that waited name the batch that they came in. That may be
   * several where the lanes were changed while they waited, in lanes of their own and at the same offset.
   */
  const byOrigin = new Map<string, ExpectedBatch[]>()

  /** The batch that an event says it is of, or else the one that lies where it says it comes from. */
  const find = (sighting: Sighting, wanted: number): [ExpectedBatch | undefined, number] => {
    const { offset, index } = placeOfVersion(sighting.version)
    const partitions = partitionsFor(sighting, offset)
    const all = byOrigin.get(`${sighting.batchId}@${offset}`) ?? []
    const named =
      all.length < 2
        ? all
        : all
            .filter(({ partition }) => partitions.includes(partition))
            .sort((a, b) => Number(b.fates[index] === wanted) - Number(a.fates[index] === wanted))
    if (named[0]) return [named[0], index]
    const there = partitions.map((partition) => byPlace.get(`${partition}/${offset}`))
    return [there.every((each) => each !== undefined) ? there[0] : undefined, index]
  }
  type IsSame = (expected: ExpectedBatch, index: number) => boolean
  const see = (sighting: Sighting, wanted: number, seen: number, isSame: IsSame): Seen => {
    const [expected, index] = find(sighting, wanted)
    if (!expected) return { as: 'outside' }
    const now = expected.fates[index]
    const isMeant =
      (now === wanted || now === seen) && originOf(expected, index) === sighting.batchId && isSame(expected, index)
    if (!isMeant) return { as: 'unfounded', expected }
    expected.fates[index] = seen
    return { as: now === wanted ? 'expected' : 'again', expected }
  }

  return {
    add: (expected: ExpectedBatch): void => {
      byPlace.set(`${expected.partition}/${expected.offset}`, expected)
      // One that repeats an earlier batch has nothing to come of it.
      if (expected.fates.length === 0) return
      for (const origin of new Set(expected.origins?.values() ?? [expected.batchId])) {
        const name = `${origin}@${expected.offset}`
        byOrigin.set(name, [...(byOrigin.get(name) ?? []), expected])
      }
    },
    seeAccepted: (sighting: Sighting): Seen =>
      see(sighting, fate.accepted, fate.acceptedSeen, ({ marks }, i) => marks[i] === markOf(sighting.key)),
    seeRejected: (sighting: Sighting): Seen => see(sighting, fate.refused, fate.refusedSeen, () => true),
    all: (): Iterable<ExpectedBatch> => byPlace.values(),
    at: ({ partition, offset }: LogPlace): ExpectedBatch | undefined => byPlace.get(`${partition}/${offset}`),
  }
}

export type Expectations = ReturnType<typeof createExpectations>

/** The batch that the event of a record names: the one that the record came in. */
export const originOf = ({ origins, batchId }: ExpectedBatch, index: number): string => origins?.get(index) ?? batchId

/** The indexes of a batch whose event was not found. */
export const missingOf = (expected: ExpectedBatch, which: 'accepted' | 'refused'): number[] => {
  const missing: number[] = []
  expected.fates.forEach((now, index) => {
    if (now === fate[which]) missing.push(index)
  })
  return missing
}

/** A hash of a key that fits into four bytes: murmur2 itself, by way of the partition that it chooses among 2^31. */
export const markOf = (key: string): number => partitionOf(key, 2 ** 31)
