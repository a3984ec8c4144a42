import type { Observed, ShownWait } from '../observe/observed.js'
import type { Ledger, ToldBatch } from '../workload/ledger.js'
import type { Planned } from '../workload/plan.js'

/** One record of an upload, as its client was told about it. */
export type Write = Planned & {
  org: string
  type: string
  batchId: string
  /** Its place in the request, and how far behind the batch's first record that is. */
  index: number
  place: number
  /** Why it was refused; undefined where it was accepted, or waited. */
  codes: string[] | undefined
  waited: boolean
  /** When its request was sent for the first time. */
  sentAt: number | undefined
}

/** Every record that somebody was told about, each id's in the order of its writes; without those of who was erased, which nothing else knows of. */
export const writesOf = (ledger: Pick<Ledger, 'uploads' | 'erasures'>): Write[] => {
  const namesErased = createNamesErased(ledger)
  return allWritesOf(ledger).filter(({ record, asNew }) => asNew || !namesErased(record))
}

/** Whether a record names somebody who was to be erased. */
export const createNamesErased = ({ erasures }: Pick<Ledger, 'erasures'>) => {
  const erased = new Set(erasures.flatMap(({ names }) => names))
  return (record: Record<string, unknown>): boolean => Object.values(record).some((value) => erased.has(String(value)))
}

export const allWritesOf = ({ uploads }: Pick<Ledger, 'uploads'>): Write[] =>
  uploads.flatMap(({ org, step, batches, sentAt }) =>
    batches.flatMap((batch) =>
      batch.places.flatMap((index) => {
        const planned = step.records[index]
        if (!planned) return []
        const place = index - (batch.places[0] ?? 0)
        const codes = codesOf(batch, index)
        const waited = batch.waited.includes(index)
        return [{ ...planned, org, type: step.type, batchId: batch.batchId, index, place, codes, waited, sentAt }]
      }),
    ),
  )

export type Accepted = Write & { version: number }

const mostRecordsInBatch = 8192

/** Every record that is accepted, at once or after it waited, with the one version that the place of that decision gives. */
export const acceptedOf = (ledger: Ledger, { verdicts, waits }: Observed): Accepted[] => {
  const versionOf = createVersionOf(verdicts)
  const ends = new Map(waits.map((wait) => [waitName(wait), wait]))
  return writesOf(ledger).flatMap((write): Accepted[] => {
    if (write.codes !== undefined) return []
    if (!write.waited) return [{ ...write, version: versionOf(write) }]
    const version = ends.get(`${write.batchId} ${write.index}`)?.accepted_version ?? null
    return version === null ? [] : [{ ...write, version }]
  })
}

/** The version that a record has which was accepted at once. */
export const createVersionOf = (verdicts: Observed['verdicts']) => {
  const offsets = new Map(verdicts.map((verdict) => [verdict.batch_id, verdict.submitted_offset]))
  return ({ batchId, place }: Pick<Write, 'batchId' | 'place'>): number =>
    (offsets.get(batchId) ?? Number.NaN) * mostRecordsInBatch + place
}

/** What waited in vain is refused for the reason that it would have had at once. */
export const inVainCodes = ['unknown_reference']

/** The name of a record that waits: its batch, and its index in the request. */
export const waitName = ({ batch_id, index }: Pick<ShownWait, 'batch_id' | 'index'>): string => `${batch_id} ${index}`

const codesOf = ({ refused }: ToldBatch, index: number): string[] | undefined =>
  refused.find((each) => each.index === index)?.codes

export const keyOf = ({ org, id }: { org: string; id: string }): string => `${org}/${id}`

export const groupBy = <T>(list: Iterable<T>, nameOf: (each: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const each of list) {
    const name = nameOf(each)
    const group = groups.get(name)
    if (group) group.push(each)
    else groups.set(name, [each])
  }
  return groups
}
