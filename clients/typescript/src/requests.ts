import type { Call, CallOptions } from './call.js'
import type { RecordError, RecordWait, RecordWaited, Reference, UploadAnswer } from './endpoints.js'
import type { RecordProblem } from './weir-error.js'

/** A record that was not accepted, and why. `index` is its place among the records given. */
export type RefusedRecord = { index: number; id?: string; line?: number; problems: RecordProblem[] }

/** What a record refers to that is not there, by the field that does. */
export type MissingReference = Reference

/** A record that waits for what it refers to, at the most until then. `index` is its place among the records given. */
export type WaitingForOthers = RecordWait

/** A record that waited, what came of it, and when. */
export type EndedWaiting = RecordWaited

/** What became of a request, batch by batch, as its uploader was or would have been answered. */
export type RequestOutcome = {
  requestId: string
  type: string
  /** Whether every batch has its verdict. Records that wait have one too: look at `waiting`. */
  isDecided: boolean
  batches: {
    batch: number
    /** 200 all accepted, 207 some, or some wait, 400 none, 202 not decided yet, 500 unknown. */
    status: number
    batchId: string | null
    message: string
    refused: RefusedRecord[]
    /** Those that wait now, and what came of those that waited. */
    waiting: WaitingForOthers[]
    waited: EndedWaiting[]
  }[]
}

export type Requests = {
  /** Looks up a request by the id that its answer, or the error in its place, had. */
  get: (requestId: string, options?: CallOptions) => Promise<RequestOutcome>
}

export const createRequests = (call: Call): Requests => ({
  get: async (requestId, options) => {
    const { json } = await call({ method: 'GET', path: `/v1/requests/${encodeURIComponent(requestId)}` }, options)
    const { request_id, type, batches } = json as UploadAnswer
    return {
      requestId: request_id,
      type,
      isDecided: !batches.some(isUndecided),
      batches: batches.map(({ batch, status, data }) => ({
        batch,
        status,
        batchId: data.batch_id,
        message: data.error ?? data.message,
        refused: (data.errors ?? []).map(toRefused),
        waiting: data.waiting ?? [],
        waited: data.waited ?? [],
      })),
    }
  },
})

/** A batch that may still be decided either way. */
export const isUndecided = ({ status }: { status: number }): boolean => status === 500 || status === 202

export const toRefused = ({ index, id, line, problems }: RecordError): RefusedRecord => ({
  index,
  ...(typeof id === 'string' && { id }),
  ...(line !== undefined && { line }),
  problems,
})
