import type { CallOptions } from '../call.js'
import type { Interactions } from '../interactions.js'
import type { Interaction } from '../record-types.js'
import type { WaitOptions } from '../waiting.js'
import { type RecordProblem, WeirError } from '../weir-error.js'

/** What is wrong with one of the records that were sent. */
export type RefusedAt = { index: number; problems: readonly RecordProblem[] }

/** What became of records that were sent: those that were refused, and how many wait for what they refer to. */
export type RecordsAnswer = { refused: RefusedAt[]; waiting: number }

type EachOptions = CallOptions & WaitOptions & { idempotencyKey?: string; onRecord?: () => void }

// The service gathers interactions that arrive together, so many at once are as good as one large request.
const atOnce = 16

/** Records interactions, which have a request each, several at once. `onRecord` is called for each that has its answer. */
export const recordEach = async (
  interactions: Pick<Interactions, 'record'>,
  records: readonly Interaction[],
  { idempotencyKey, onRecord, ...options }: EachOptions,
): Promise<RecordsAnswer> => {
  const refused: RefusedAt[] = []
  let waiting = 0
  let next = 0
  const sendSome = async (): Promise<void> => {
    for (let index = next++; index < records.length; index = next++) {
      const key = idempotencyKey && { idempotencyKey: `${idempotencyKey}-${index}` }
      try {
        const taken = await interactions.record(records[index] as Interaction, { ...options, ...key })
        if (taken.waiting) waiting += 1
      } catch (error) {
        if (!(error instanceof WeirError) || error.status !== 400 || error.problems.length === 0) throw error
        refused.push({ index, problems: error.problems })
      }
      onRecord?.()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendSome))
  return { refused: refused.sort((a, b) => a.index - b.index), waiting }
}
