/** What the edge said: what became of the request, or when to ask again, or that it never will take it. */
export type Reading =
  | { requestId: string; refused: number[] }
  | { again: string; afterMs?: number }
  | { impossible: string; isAboutTheBody: boolean }

export type EdgeAnswer = { status: number; requestId: string; retryAfter: string | null; body: unknown }

type Upload = { batches?: { status: number; data?: { errors?: { index: number }[] } }[] }

/** The answer to an upload: settled once every one of its batches is. */
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
// No request with these bytes was ever taken, nor will be.
const aboutTheBody = [400, 413]

const readFailure = ({ status, retryAfter, body }: EdgeAnswer): Reading => {
  const message = (body as { message?: string } | null)?.message ?? `status ${status}`
  if (status === 429 || status === 503) return { again: message, afterMs: Math.max(1, Number(retryAfter) || 1) * 1000 }
  if (passing.includes(status)) return { again: message }
  return { impossible: message, isAboutTheBody: aboutTheBody.includes(status) }
}
