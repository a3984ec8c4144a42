import type { RecordType } from '../../../schemas/record.js'
import type { CallOptions, RecordProblem, WaitOptions, Weir } from '../../typescript/src/index.js'

/** How records are sent. `wait` is how long they wait for what they refer to, such as 24h; without it they are refused at once. */
type HowToSend = { dryRun: boolean; wait: string | undefined }

/** What is wrong with one of the records that were sent. */
export type RefusedAt = { index: number; problems: readonly RecordProblem[] }

/** What became of records that were sent: those that were refused, and how many wait for what they refer to. */
export type RecordsAnswer = { refused: RefusedAt[]; waiting: number }

/** Sends records as one request and resolves to what became of them. */
export type SendRecords = (
  records: readonly Record<string, unknown>[],
  options: CallOptions & { idempotencyKey?: string },
) => Promise<RecordsAnswer>

export const createSendRecords = (weir: Weir, type: RecordType, { dryRun, wait }: HowToSend): SendRecords => {
  const waits: WaitOptions = wait === undefined ? {} : { missingReferences: 'wait', waitFor: wait }
  const uploads = weir.of(type.type)
  return async (records, options) => {
    const { refused, waiting } = await uploads.send(records, { ...options, ...waits, dryRun })
    return { refused, waiting: waiting.length }
  }
}
