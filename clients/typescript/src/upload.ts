import type { CallOptions, RetryNotice } from './call.js'
import type { RefusedRecord, WaitingForOthers } from './requests.js'
import { type SendableType, type SendResult, type SendTexts, sendInHalves } from './send.js'
import { createIdGate } from './under-way/id-gate.js'
import { createInFlight, type InFlightPlace } from './under-way/in-flight.js'
import { createBatchSource, type RecordBatch } from './under-way/record-batches.js'
import type { WaitOptions } from './waiting.js'
import { type UploadProgress, WeirError } from './weir-error.js'

export type UploadOptions<Item> = CallOptions &
  WaitOptions & {
    /** The most requests at once; 4 unless said. While the service is busy there are fewer. */
    inFlight?: number | undefined
    /** The most records in a request, where that is to be fewer than the type allows: for a source that is slow. */
    batchSize?: number | undefined
    /** Checks everything and keeps nothing. */
    dryRun?: boolean | undefined
    /** Is called for each refused record, one call after another; the upload waits for a promise that it returns. */
    onRefused?: ((refusal: UploadRefusal<Item>) => unknown) | undefined
    /** The same for each record that waits for what it refers to. */
    onWaiting?: ((waiting: UploadWaiting<Item>) => unknown) | undefined
    /** Is called after each request. */
    onProgress?: ((progress: UploadProgress) => unknown) | undefined
  }

/** A refused record with its place in the iterable. By `requestId` the service knows the request that it was in. */
export type UploadRefusal<Item> = RefusedRecord & { record: Item; requestId: string }

/** A record that waits, likewise: by `requestId`, `requests.get` tells what becomes of it. */
export type UploadWaiting<Item> = WaitingForOthers & { record: Item; requestId: string }

/** How many records were accepted and refused, and how many wait, in how many requests. */
export type UploadSummary = { accepted: number; refused: number; waiting: number; requests: number }

/** Sends any number of records in requests, a few at a time, but never two with a record of one id: the later record wins. */
export const uploadAll = async <Item>(
  deps: { type: SendableType; sendTexts: SendTexts },
  records: Iterable<Item> | AsyncIterable<Item>,
  { inFlight = 4, batchSize, dryRun, onRefused, onWaiting, onProgress, onRetry, ...options }: UploadOptions<Item> = {},
): Promise<UploadSummary> => {
  const { signal } = options
  signal?.throwIfAborted()
  const source = createBatchSource(records, deps.type, { batchSize, isKept: (onRefused ?? onWaiting) !== undefined })
  const places = createInFlight({ most: inFlight })
  const gate = createIdGate()
  const running = new Set<Promise<void>>()
  // Where the batches begin that are not settled yet. They come in order, so the first is the earliest.
  const open = new Set<number>()
  const counts = { accepted: 0, refused: 0, waiting: 0, requests: 0 }
  let failure: { reason: unknown } | undefined
  let reported: Promise<unknown> = Promise.resolve()

  const fail = (reason: unknown): void => {
    failure ??= { reason }
    source.stop(reason)
  }
  const progress = (): UploadProgress => {
    const read = source.given()
    const [earliest = read] = open
    return { read, settled: earliest, ...counts }
  }

  // A batch whose refusals were not all handed over does not count as settled: an upload that goes on from there has them again.
  const report = async (
    batch: RecordBatch<Item>,
    { requestId, accepted, refused, waiting }: SendResult,
  ): Promise<void> => {
    for (const { index, ...refusal } of onRefused ? refused : []) {
      const record = batch.records[index] as Item
      await calling('onRefused', () => onRefused?.({ ...refusal, index: batch.first + index, record, requestId }))
    }
    for (const { index, ...wait } of onWaiting ? waiting : []) {
      const record = batch.records[index] as Item
      await calling('onWaiting', () => onWaiting?.({ ...wait, index: batch.first + index, record, requestId }))
    }
    counts.accepted += accepted
    counts.refused += refused.length
    counts.waiting += waiting.length
    open.delete(batch.first)
    await calling('onProgress', () => onProgress?.(progress()))
  }

  const send = (texts: readonly string[], place: InFlightPlace): Promise<SendResult> => {
    const noteRetry = (retry: RetryNotice) => {
      if (retry.status === 429 || retry.status === 503) place.busy()
      onRetry?.(retry)
    }
    return sendInHalves(
      texts,
      (some) => {
        counts.requests += 1
        return deps.sendTexts(deps.type, some, { ...options, dryRun, onRetry: noteRetry })
      },
      (some) => source.shrink(some.reduce((sum, { length }) => sum + length, 0)),
    )
  }

  const run = async (batch: RecordBatch<Item>, place: InFlightPlace): Promise<void> => {
    const turn = gate.enter(batch.ids)
    let isAnswered = false
    try {
      await turn.ready
      // What becomes of a request that failed is not known: later records with its ids must not overtake it.
      if (failure) return
      const result = await send(batch.texts, place)
      isAnswered = true
      // One after another, and no more once one has failed.
      const reporting = reported.then(() => report(batch, result))
      reported = reporting
      reporting.catch(() => {})
      await reporting
    } catch (reason) {
      fail(reason)
    } finally {
      turn.leave()
      place.leave(isAnswered)
    }
  }

  const stop = () => fail(signal?.reason)
  signal?.addEventListener('abort', stop)
  try {
    while (!failure) {
      const place = await places.enter(signal)
      const batch = failure ? undefined : await source.next()
      if (!batch) break
      open.add(batch.first)
      const job = run(batch, place).finally(() => running.delete(job))
      running.add(job)
    }
  } catch (reason) {
    fail(reason)
  }
  const closing = source.close()
  if (!signal?.aborted) await closing
  await Promise.all(running)
  signal?.removeEventListener('abort', stop)
  if (!failure) return counts
  const { reason } = failure
  if (reason instanceof WeirError) reason.progress = progress()
  throw reason
}

/** Runs a callback of the caller. What it throws is an error of its own, and no failure of a request. */
export const calling = async (name: string, work: () => unknown): Promise<void> => {
  try {
    await work()
  } catch (cause) {
    const remedy = `mend ${name}; progress says what was sent, and records may be sent again`
    throw new WeirError('usage', `${name} failed: ${cause}`, remedy, { cause })
  }
}
