import type { Call, CallOptions } from './call.js'
import type { UploadAnswer } from './endpoints.js'
import { isUndecided, type RefusedRecord, toRefused, type WaitingForOthers } from './requests.js'
import { type WaitOptions, waitQueryOf } from './waiting.js'
import { WeirError } from './weir-error.js'

export type SendResult = {
  requestId: string
  accepted: number
  refused: RefusedRecord[]
  /** Those that wait for what they refer to; none unless `missingReferences` is `wait`. */
  waiting: WaitingForOthers[]
}

export type SendRecordsOptions = CallOptions &
  WaitOptions & {
    /** Checks everything and keeps nothing. */
    dryRun?: boolean | undefined
    /**
     * For each record, the version of the accepted record that it may replace, or null where there may be none. Where something else is
     * there, nothing is taken: the error is a `conflict`, and its `conflicts` show both. For 100 records at the most.
     */
    ifVersion?: readonly (number | null)[] | undefined
    /** 1 to 255 visible ASCII characters: records sent again with one key within a day are not taken twice. Made unless given. */
    idempotencyKey?: string | undefined
  }

/** What the service and its clients have to know about a type of records to send them. */
export type SendableType = { type: string; id: string; limit: number }

/** Sends records that are JSON already, as one request, and resolves when each of them is decided. */
export type SendTexts = (
  type: SendableType,
  texts: readonly string[],
  options?: SendRecordsOptions & Outliving,
) => Promise<SendResult>

/** Whether a browser is to finish the request where its page is left meanwhile. It takes 64 KiB in all of such bodies. */
type Outliving = { keepalive?: boolean | undefined }

/**
 * Sends records with `send`. Where the operator, or a proxy on the way, takes only smaller bodies, they go in halves, one after the other,
 * since they may have records with one id; `half` tells these apart: '', '-1', '-2', '-1-1', …
 */
export const sendInHalves = async (
  texts: readonly string[],
  send: (some: readonly string[], half: string) => Promise<SendResult>,
  onTooLarge?: (some: readonly string[]) => void,
  half = '',
): Promise<SendResult> => {
  try {
    return await send(texts, half)
  } catch (error) {
    if (!(error instanceof WeirError) || error.status !== 413 || texts.length === 1) throw error
    onTooLarge?.(texts)
    const middle = Math.ceil(texts.length / 2)
    const first = await sendInHalves(texts.slice(0, middle), send, onTooLarge, `${half}-1`)
    const second = await sendInHalves(texts.slice(middle), send, onTooLarge, `${half}-2`)
    const moved = <T extends { index: number }>(one: T): T => ({ ...one, index: middle + one.index })
    return {
      ...second,
      accepted: first.accepted + second.accepted,
      refused: [...first.refused, ...second.refused.map(moved)],
      waiting: [...first.waiting, ...second.waiting.map(moved)],
    }
  }
}

export const createSendTexts =
  (call: Call): SendTexts =>
  async (
    type,
    texts,
    { dryRun = false, ifVersion, idempotencyKey, missingReferences, waitFor, keepalive, ...options } = {},
  ) => {
    if (texts.length === 0 || texts.length > type.limit)
      throw new WeirError(
        'usage',
        `a request carries 1 to ${type.limit} records of ${type.type}; this one would carry ${texts.length}`,
        'use upload(), which cuts any number of records into requests',
      )
    const conditions = {
      dry_run: dryRun || undefined,
      if_version: ifVersion?.map((version) => version ?? 'none').join(','),
    }
    const { status, json } = await call(
      {
        method: 'POST',
        path: `/v1/data/${type.type}${waitQueryOf({ missingReferences, waitFor }, conditions)}`,
        body: `{"records":[${texts.join(',')}]}`,
        // A dry run changes nothing, so it may simply be made again.
        idempotencyKey: idempotencyKey ?? (dryRun ? undefined : newKey()),
        undecided,
        keepalive,
      },
      options,
    )
    const { request_id: requestId, batches } = json as UploadAnswer
    const remedy = 'check that the url given to createWeir is that of Weir'
    if (!Array.isArray(batches)) throw new WeirError('server', 'the answer has no batches', remedy, { status })
    const refused = batches.flatMap(({ data }) => data.errors ?? []).map(toRefused)
    const waiting = batches.flatMap(({ data }) => data.waiting ?? [])
    // Where the same request was sent before: those that a newer record replaced while they waited, or that were cancelled.
    const dropped = batches
      .flatMap(({ data }) => data.waited ?? [])
      .filter(({ state }) => state === 'superseded' || state === 'cancelled')
    const accepted = texts.length - refused.length - waiting.length - dropped.length
    return { requestId, accepted, refused, waiting }
  }

/** Whether some batches have no verdict: the request is sent again with its key, and only those are taken again. */
const undecided = (json: unknown): string | undefined => {
  const { batches } = (json ?? {}) as Partial<UploadAnswer>
  if (!Array.isArray(batches)) return undefined
  const open = batches.filter(isUndecided)
  if (open.length === 0) return undefined
  return `${open.length} of ${batches.length} batches are not decided: ${open[0]?.data.error ?? 'not decided yet'}`
}

/** Not crypto.randomUUID: browsers have that only on pages that came over https. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * A record as JSON. What JSON has no form for is written as text, so that the service refuses the record and says why:
 * JSON.stringify would make null of NaN, which means that the field is absent, and would throw for a bigint.
 */
export const toText = (record: unknown): string => {
  if (typeof record === 'object' && record !== null)
    for (const value of Object.values(record)) if (isBeyondJson(value)) return JSON.stringify(record, spellOut)
  return JSON.stringify(record) ?? 'null'
}

const isBeyondJson = (value: unknown): boolean =>
  typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)) || isInvalidDate(value)

const isInvalidDate = (value: unknown): boolean => value instanceof Date && Number.isNaN(value.getTime())

/** Dates come as the text that their toJSON makes: null for an invalid one, which only the record itself shows. */
function spellOut(this: unknown, name: string, value: unknown): unknown {
  const given = (this as Record<string, unknown>)[name]
  return isBeyondJson(given) ? String(given) : value
}
