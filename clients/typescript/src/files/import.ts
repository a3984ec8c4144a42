import type { Call, CallOptions } from '../call.js'
import type { ImportBatch, ImportSummary } from '../endpoints.js'
import { type RefusedRecord, toRefused, type WaitingForOthers } from '../requests.js'
import { newKey, type SendableType } from '../send.js'
import { calling } from '../upload.js'
import { type WaitOptions, waitQueryOf } from '../waiting.js'
import { type UploadProgress, WeirError } from '../weir-error.js'

/** Records as they stand in a file. A function is called for each attempt, and has to give the same bytes each time. */
export type ImportBody = string | Uint8Array | Blob | (() => ReadableStream<Uint8Array>)

export type ImportOptions = CallOptions &
  WaitOptions & {
    /** A record on each line as JSON, or rows below a row with the names of the fields. */
    format: 'ndjson' | 'csv'
    gzipped?: boolean | undefined
    dryRun?: boolean | undefined
    /** The same bytes sent again with one key go on where they came to, also after this program has ended. Made unless given. */
    idempotencyKey?: string | undefined
    /** Is called for each refused record, with its `index` and `line`; the import waits for a promise that it returns. */
    onRefused?: ((refusal: RefusedRecord) => unknown) | undefined
    onWaiting?: ((waiting: WaitingForOthers) => unknown) | undefined
    /** Is called after each batch. */
    onProgress?: ((progress: Omit<UploadProgress, 'read' | 'requests'>) => unknown) | undefined
  }

export type ImportResult = { requestId: string; records: number; accepted: number; refused: number; waiting: number }

/**
 * Sends a body of any length as it is, and reads what becomes of its records meanwhile. Where it is cut off, the same body is sent
 * again with its key: what was decided is answered again, which is not handed over again, and the rest is gone on with.
 */
export const createImport =
  (call: Call) =>
  async (
    type: SendableType,
    body: ImportBody,
    {
      format,
      gzipped,
      dryRun = false,
      idempotencyKey = dryRun ? undefined : newKey(),
      missingReferences,
      waitFor,
      onRefused,
      onWaiting,
      onProgress,
      ...options
      // Who writes no TypeScript may leave it out, and is to be told what is missing.
    }: Partial<ImportOptions> = {},
  ): Promise<ImportResult> => {
    const contentType = format && { ndjson: 'application/x-ndjson', csv: 'text/csv' }[format]
    if (!contentType)
      throw new WeirError('usage', `there is no format ${JSON.stringify(format)}`, 'give it as ndjson or csv')
    // By their first lines: batches are counted in each answer, and one that is not decided may not be there.
    const reported = new Set<number>()
    const counts = { accepted: 0, refused: 0, waiting: 0 }
    let reportedBefore = 0
    let idle = 0

    const onLine = async (line: unknown): Promise<void> => {
      if (!isBatch(line) || line.status === 500 || reported.has(line.from_line)) return
      for (const refusal of line.refused) await calling('onRefused', () => onRefused?.(toRefused(refusal)))
      for (const wait of line.waiting) await calling('onWaiting', () => onWaiting?.(wait))
      reported.add(line.from_line)
      counts.accepted += line.accepted
      counts.refused += line.refused.length
      counts.waiting += line.waiting.length
      const settled = counts.accepted + counts.refused + counts.waiting
      await calling('onProgress', () => onProgress?.({ ...counts, settled }))
    }

    /** Another attempt helps where it gets further; a body that cannot be read ends at the same place again. */
    const undecided = (json: unknown): string | undefined => {
      const { summary } = (json ?? {}) as Partial<ImportSummary>
      if (!summary || summary.complete) return undefined
      const { message, request_id: requestId } = summary
      const more = { requestId, idempotencyKey }
      if (/used with another body/.test(message))
        throw new WeirError('conflict', message, 'send the first body again with this key, or use a new key', more)
      idle = reported.size > reportedBefore ? 0 : idle + 1
      reportedBefore = reported.size
      if (idle === mostIdle || idempotencyKey === undefined)
        throw new WeirError('server', message, 'mend what the message names, or send the same again later', more)
      return message
    }

    const { json } = await call(
      {
        method: 'POST',
        path: `/v1/imports/${type.type}${waitQueryOf({ missingReferences, waitFor }, { dry_run: dryRun || undefined })}`,
        lined: {
          headers: { 'content-type': contentType, ...(gzipped && { 'content-encoding': 'gzip' }) },
          open: () => (typeof body === 'function' ? body() : (body as BodyInit)),
          onLine,
        },
        idempotencyKey,
        undecided,
      },
      options,
    )
    const { summary } = json as Partial<ImportSummary>
    if (!summary)
      throw new WeirError(
        'server',
        'the answer has no summary',
        'check that the url given to createWeir is that of Weir',
      )
    const { request_id: requestId, records, accepted, refused, waiting } = summary
    return { requestId, records, accepted, refused, waiting }
  }

const mostIdle = 3

const isBatch = (line: unknown): line is ImportBatch => typeof line === 'object' && line !== null && 'from_line' in line
