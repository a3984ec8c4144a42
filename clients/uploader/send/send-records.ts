import { createValidator } from '../../../schemas/derive/validator.js'
import type { RecordType } from '../../../schemas/record.js'
import {
  type CallOptions,
  type Interaction,
  type RecordProblem,
  type Weir,
  WeirError,
} from '../../typescript/src/index.js'

/** What is wrong with one of the records that were sent. */
export type RefusedAt = { index: number; problems: readonly RecordProblem[] }

/** Sends records as one request and resolves to those that were refused. The same `key` again is the same request. */
export type SendRecords = (
  records: readonly Record<string, unknown>[],
  options: CallOptions & { idempotencyKey?: string },
) => Promise<RefusedAt[]>

export const createSendRecords = (weir: Weir, type: RecordType, { dryRun }: { dryRun: boolean }): SendRecords => {
  if (type.type === 'interactions') return dryRun ? checkHere(type) : sendOneByOne(weir)
  const uploads = weir.of(type.type)
  return async (records, options) => (await uploads.send(records, { ...options, dryRun })).refused
}

// The service gathers interactions that arrive together, so many at once are as good as one large request.
const atOnce = 16

/** Interactions have a request each. */
const sendOneByOne =
  (weir: Weir): SendRecords =>
  async (records, { idempotencyKey, ...options }) => {
    const refused: RefusedAt[] = []
    let next = 0
    const sendSome = async (): Promise<void> => {
      for (let index = next++; index < records.length; index = next++) {
        const key = idempotencyKey && { idempotencyKey: `${idempotencyKey}-${index}` }
        try {
          await weir.interactions.record(records[index] as unknown as Interaction, { ...options, ...key })
        } catch (error) {
          if (!(error instanceof WeirError) || error.status !== 400 || error.problems.length === 0) throw error
          refused.push({ index, problems: error.problems })
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, sendSome))
    return refused.sort((a, b) => a.index - b.index)
  }

/** There is no dry run of interactions: they are held against the catalogue, and what they refer to is not looked up. */
const checkHere = (type: RecordType): SendRecords => {
  const validate = createValidator(type)
  return async (records) =>
    records.flatMap((record, index) => {
      const found = validate(record)
      return 'problems' in found ? [{ index, problems: found.problems }] : []
    })
}
