import { setTimeout as wait } from 'node:timers/promises'
import { reasonOf } from '#platform/health/health.js'
import { addressOf } from '../desk/address.js'
import { OperatorError } from '../desk/operator-error.js'
import type { EdgeAnswer, Reading } from './read-answer.js'

export type EdgeRequest = { path: string; key: string; idempotencyKey: string; body: string }

export type Edge = {
  /** Fails at once, and in one line, where nobody answers. */
  check: () => Promise<void>
  /** Sends until the answer is known, with the same key each time, as any careful client does. */
  send: (request: EdgeRequest, read: (answer: EdgeAnswer) => Reading) => Promise<Exclude<Reading, { again: string }>>
}

const answerWithin = 90_000
const firstPause = 500
const longestPause = 10_000

export const createEdge = (deps: {
  url: string
  signal: AbortSignal
  note: (text: string) => void
  /** How long it may stay away, in milliseconds; "later" is no staying away. */
  patience?: number
}): Edge => {
  const { signal, note, patience = 120_000 } = deps
  const address = addressOf(deps.url)
  const at = (path: string): URL => new URL(path, deps.url)
  const limit = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(answerWithin)])
  const away = (reason: string, then: string) =>
    new OperatorError(`the edge does not answer at ${address} (${reason}): ${then}`)

  const post = async ({ path, key, idempotencyKey, body }: EdgeRequest): Promise<EdgeAnswer> => {
    const answer = await fetch(at(path), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
      body,
      signal: limit(),
    })
    return {
      status: answer.status,
      requestId: answer.headers.get('x-request-id') ?? '',
      retryAfter: answer.headers.get('retry-after'),
      body: parse(await answer.text()),
    }
  }

  return {
    check: async () => {
      try {
        await fetch(at('/healthz'), { signal: limit() }).then((answer) => answer.arrayBuffer())
      } catch (error) {
        signal.throwIfAborted()
        throw away(reasonOf(error), 'is npm start running? EDGE_URL says where it is')
      }
    },
    send: async (request, read) => {
      let deadline = Date.now() + patience
      for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
        const reading = await post(request).then(read, (error): Reading => {
          signal.throwIfAborted()
          return { again: reasonOf(error) }
        })
        if (!('again' in reading)) return reading
        if (reading.afterMs !== undefined) deadline = Date.now() + patience
        else if (Date.now() > deadline) throw away(reading.again, 'nothing is lost; run this again to go on')
        note(`${reading.again}; trying again`)
        await wait(reading.afterMs ?? pause, undefined, { signal })
      }
    },
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // A proxy's own page: its status says enough.
    return null
  }
}
