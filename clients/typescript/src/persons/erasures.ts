import { type Call, type CallOptions, pause } from '../call.js'
import type { AnswerTo, Endpoints, Erasure, ErasureWithProof } from '../endpoints.js'
import { WeirError } from '../weir-error.js'

/** How a person is forgotten. */
export type ErasureWanted = {
  /** `erase`: all records that name the person go. `pseudonymise`: transactions and interactions stay for sums, without the person. */
  mode: Endpoints['POST /v1/erasures']['body']['mode']
  /** Only counts what there is. */
  dryRun?: boolean | undefined
  /** Later uploads that name the person are refused, unless said: `new` takes them, as those of somebody new. */
  afterwards?: Endpoints['POST /v1/erasures']['body']['afterwards']
}

export type UntilDoneOptions = CallOptions & {
  /** Milliseconds between one look and the next; 2000 unless said. */
  everyMs?: number | undefined
  /** Is called with the erasure whenever it is at another step. */
  onStep?: ((erasure: ErasureWithProof) => void) | undefined
}

/** For a key with the scope `persons:erase`. */
export type Erasures = {
  /** Has a person forgotten: a customer_id, student_id or user_id. Nothing brings one back. Asked again while it runs, it is the same erasure. */
  ask: (personId: string, wanted: ErasureWanted, options?: CallOptions) => Promise<Erasure>
  /** The newest first, at most 1000. They name nobody. */
  list: (options?: CallOptions) => Promise<Erasure[]>
  /** With its proof, once it is done. */
  find: (erasureId: string, options?: CallOptions) => Promise<ErasureWithProof>
  /** Waits until it is done, a minute or more. Rejects where it has failed. */
  untilDone: (erasureId: string, options?: UntilDoneOptions) => Promise<ErasureWithProof>
}

export const createErasures = (call: Call): Erasures => {
  const find: Erasures['find'] = async (erasureId, options) => {
    const path = `/v1/erasures/${encodeURIComponent(erasureId)}`
    return (await call({ method: 'GET', path }, options)).json as ErasureWithProof
  }
  return {
    ask: async (personId, { mode, dryRun, afterwards }, options) => {
      const body = JSON.stringify({ person_id: personId, mode, dry_run: dryRun, afterwards })
      return (await call({ method: 'POST', path: '/v1/erasures', body }, options)).json as Erasure
    },
    list: async (options) => {
      const { json } = await call({ method: 'GET', path: '/v1/erasures' }, options)
      return (json as AnswerTo<'GET /v1/erasures'>).erasures
    },
    find,
    untilDone: async (erasureId, { everyMs = 2_000, onStep, ...options } = {}) => {
      for (let step: string | undefined; ; ) {
        const erasure = await find(erasureId, options)
        if (erasure.step !== step) onStep?.(erasure)
        step = erasure.step
        if (erasure.status === 'done') return erasure
        if (erasure.status === 'failed')
          throw new WeirError(
            'server',
            `the erasure ${erasureId} has failed: ${erasure.problem}`,
            'when that is put right, ask for it again',
          )
        await pause(everyMs, options.signal)
      }
    },
  }
}
