import { setTimeout as wait } from 'node:timers/promises'
import { reasonOf } from '#platform/health/health.js'
import { uploadPath } from '#rejections/plan-retry.js'
import { type AgainAnswer, uploadBodyOf } from '#rejections/send-claimed.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { addressOf, askOnce, type Part } from '../command/ask-servers.js'
import { OperatorError } from '../command/operator-error.js'

export type EdgeRequest = { path: string; key: string; idempotencyKey: string; body: string }

export type Edge = {
  /** Fails, in one line, where nobody answers. */
  check: () => Promise<void>
  /** Sends until the answer is known, with the same Idempotency-Key each time, as any careful client does. */
  send: (request: EdgeRequest, read: (answer: EdgeAnswer) => Reading) => Promise<AgainAnswer>
}

/** What an answer means: what became of the request, or that it is to be sent again, or that it will never be taken. */
export type Reading = AgainAnswer | { again: string; afterMs?: number }

export type EdgeAnswer = { status: number; requestId: string; retryAfter: string | null; body: unknown }

const answerWithin = 90_000
const firstPause = 500
const longestPause = 10_000

export const createEdge = (deps: {
  url: string
  signal: AbortSignal
  note: (text: string) => void
  /** How long the edge may fail to answer, in milliseconds. An answer that asks us to come back later starts this anew. */
  patience?: number
}): Edge => {
  const { signal, note, patience = 120_000 } = deps
  const at = (path: string): URL => new URL(path, deps.url)
  const limit = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(answerWithin)])
  const part: Part = {
    name: 'the edge',
    address: addressOf(deps.url),
    variable: 'EDGE_URL',
    check: () => fetch(at('/healthz'), { signal: limit() }).then((answer) => answer.arrayBuffer()),
  }

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
      const line = await askOnce(part, answerWithin)
      signal.throwIfAborted()
      if (line !== undefined) throw new OperatorError(line)
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
        else if (Date.now() > deadline) {
          throw new OperatorError(
            `the edge does not answer at ${part.address} (${reading.again}): nothing is lost; run this again to go on`,
          )
        }
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

/** The request that submits these records, and how to read its answer. The same records always give the same bytes. */
export const requestOf = (
  catalogue: Catalogue,
  type: string,
  records: readonly string[],
): { path: string; body: string; read: (answer: EdgeAnswer) => Reading } =>
  type === catalogue.interaction.type
    ? { path: '/user-interactions', body: records[0] ?? '', read: readInteraction }
    : { path: uploadPath(type), body: uploadBodyOf(records), read: readUpload }

type Upload = { batches?: { status: number; data?: { errors?: { index: number }[] } }[] }

/** The answer to an upload: final once every batch in it is decided. */
export const readUpload = (answer: EdgeAnswer): Reading => {
  const { batches } = (answer.body ?? {}) as Upload
  if (!Array.isArray(batches)) return readFailure(answer)
  if (batches.some(({ status }) => ![200, 207, 400].includes(status))) return { again: 'no verdict came in time' }
  return {
    requestId: answer.requestId,
    refused: batches.flatMap(({ data }) => (data?.errors ?? []).map(({ index }) => index)),
  }
}

export const readInteraction = (answer: EdgeAnswer): Reading => {
  if (answer.status === 201) return { requestId: answer.requestId, refused: [] }
  const { problems } = (answer.body ?? {}) as { problems?: unknown }
  if (answer.status === 400 && Array.isArray(problems)) return { requestId: answer.requestId, refused: [0] }
  return readFailure(answer)
}

const passing = [408, 500, 502, 504]
// These are about the body: no request with these bytes was ever taken, nor will be.
const aboutTheBody = [400, 413]

const readFailure = ({ status, retryAfter, body }: EdgeAnswer): Reading => {
  const message = (body as { message?: string } | null)?.message ?? `status ${status}`
  if (status === 429 || status === 503) return { again: message, afterMs: Math.max(1, Number(retryAfter) || 1) * 1000 }
  if (passing.includes(status)) return { again: message }
  return { notTaken: message, isAboutTheBody: aboutTheBody.includes(status) }
}
