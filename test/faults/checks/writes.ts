import type { Ledger, ToldBatch } from '../workload/ledger.js'
import type { Planned, UploadType } from '../workload/plan.js'

/** One record of an upload, as its client was told about it. */
export type Write = Planned & {
  org: string
  type: UploadType
  batchId: string
  /** Its place in the request, and how far behind the batch's first record that is. */
  index: number
  place: number
  /** Why it was refused; undefined where it was accepted. */
  codes: string[] | undefined
}

/** Every record that somebody was told about, each id's in the order of its writes. */
export const writesOf = ({ uploads }: Pick<Ledger, 'uploads'>): Write[] =>
  uploads.flatMap(({ org, step, batches }) =>
    batches.flatMap((batch) =>
      batch.places.flatMap((index) => {
        const planned = step.records[index]
        if (!planned) return []
        const place = index - (batch.places[0] ?? 0)
        const codes = codesOf(batch, index)
        return [{ ...planned, org, type: step.type, batchId: batch.batchId, index, place, codes }]
      }),
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
