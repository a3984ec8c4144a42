import { createValidator } from '../../../schemas/derive/validator.js'
import { comesAlone, type RecordType } from '../../../schemas/record.js'
import type { CallOptions, Interaction, WaitOptions, Weir } from '../../typescript/src/index.js'
import { type RecordsAnswer, recordEach } from '../../typescript/src/under-way/one-by-one.js'

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

/** Interactions have a request each. */
const sendOneByOne =
  (weir: Weir, waits: WaitOptions): SendRecords =>
  (records, options) =>
    recordEach(weir.interactions, records as unknown as readonly Interaction[], { ...options, ...waits })

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
