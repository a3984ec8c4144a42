import { createValidator } from '../../../schemas/derive/validator.js'
import { comesAlone, type RecordType } from '../../../schemas/record.js'
import {
  type CallOptions,
  type Interaction,
  type RecordProblem,
  type WaitOptions,
  type Weir,
  WeirError,
} from '../../typescript/src/index.js'

/** What is wrong with one of the records that were sent. */
export type RefusedAt = { index: number; problems: readonly RecordProblem[] }

/** What became of records that were sent: those that were refused, and how many wait for what they refer to. */
export type RecordsAnswer = { refused: RefusedAt[]; waiting: number }

/** How records are sent. `wait` is how long they wait for what they refer to, such as 24h; without it they are refused at once. */
type HowToSend = { dryRun: boolean; wait: string | undefined }

/** Sends records as one request and resolves to what became of them. `onRecord` is called for each that has an answer of its own. */
export type SendRecords = (
  records: readonly Record<string, unknown>[],
  options: CallOptions & { idempotencyKey?: string; onRecord?: () => void },
) => Promise<RecordsAnswer>

export const createSendRecords = (weir: Weir, type: RecordType, { dryRun, wait }: HowToSend): SendRecords => {
  const waits: WaitOptions = wait === undefined ? {} : { missingReferences: 'wait', waitFor: wait }
  if (comesAlone(type)) return dryRun ? checkHere(type) : sendOneByOne(weir, waits)
  const uploads = weir.of(type.type)
  return async (records, { onRecord: _, ...options }) => {
    const { refused, waiting } = await uploads.send(records, { ...options, ...waits, dryRun })
    return { refused, waiting: waiting.length }
  }
}

// The service gathers interactions that arrive together, so many at once are as good as one large request.
const atOnce = 16

/** Interactions have a request each. */
const sendOneByOne =
  (weir: Weir, waits: WaitOptions): SendRecords =>
  async (records, { idempotencyKey, onRecord, ...options }) => {
    const refused: RefusedAt[] = []
    let waiting = 0
    let next = 0
    const sendSome = async (): Promise<void> => {
      for (let index = next++; index < records.length; index = next++) {
        const key = idempotencyKey && { idempotencyKey: `${idempotencyKey}-${index}` }
        try {
          const interaction = records[index] as unknown as Interaction
          const taken = await weir.interactions.record(interaction, { ...options, ...waits, ...key })
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

/** There is no dry run of interactions: they are held against the catalogue, and what they refer to is not looked up. */
const checkHere = (type: RecordType): SendRecords => {
  const validate = createValidator(type)
  return async (records) => ({
    refused: records.flatMap((record, index) => {
      const found = validate(record)
      return 'problems' in found ? [{ index, problems: found.problems }] : []
    }),
    waiting: 0,
  })
}
