import type { Ledger, ToldBatch } from '../workload/ledger.js'
import type { Planned, UploadType } from '../workload/plan.js'

/** One record of an upload, as its client was told about it. */
export type Write = Planned & {
  org: string
  type: UploadType
  batchId: string
  /** Its place in the request, and in the batch. */
  index: number
  place: number
  /** Why it was refused; undefined where it was accepted. */
  codes: string[] | undefined
}

/** Every record that somebody was told about, each id's in the order of its writes. */
export const writesOf = ({ uploads }: Pick<Ledger, 'uploads'>): Write[] =>
  uploads.flatMap(({ org, step, batches }) =>
    batches.flatMap((batch) =>
      step.records.slice(batch.first, batch.first + batch.count).map((planned, place) => ({
        ...planned,
        org,
        type: step.type,
        batchId: batch.batchId,
        index: batch.first + place,
        place,
        codes: codesOf(batch, batch.first + place),
      })),
    ),
  )

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
