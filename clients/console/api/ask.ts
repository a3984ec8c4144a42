/** An answer that is none of the good ones. `status` is 0 where no answer came. */
export class AskError extends Error {
  override readonly name = 'AskError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type AskOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
  signal?: AbortSignal
  idempotencyKey?: string
  headers?: Record<string, string>
}

/** Asks the edge for JSON. */
export type Ask = <Answer>(path: string, options?: AskOptions) => Promise<Answer>

export type AskDeps = {
  key: string
  /** No answer came. */
  onLost: () => void
  /** The key is not valid any more. */
  onKeyEnded: (message: string) => void
}

export const createAsk =
  ({ key, onLost, onKeyEnded }: AskDeps): Ask =>
  async <Answer>(
    path: string,
    { method = 'GET', body, signal, idempotencyKey, headers }: AskOptions = {},
  ): Promise<Answer> => {
    const response = await fetch(path, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${key}`,
        ...headers,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ?? null,
    }).catch((cause: unknown) => {
      if (signal?.aborted) throw cause
      onLost()
      throw new AskError(0, 'no answer came from the service')
    })
    const json: unknown = await response.json().catch(() => undefined)
    if (response.ok && json !== undefined) return json as Answer
    const message = messageOf(response.status, json)
    if (response.status === 401) onKeyEnded(message)
    // A proxy that cannot reach the edge answers so, without JSON.
    if (json === undefined && [502, 503, 504].includes(response.status)) onLost()
    throw new AskError(response.status, message)
  }

export const messageOf = (status: number, json: unknown): string => {
  const said = (json as { message?: unknown } | undefined)?.message
  if (typeof said === 'string') return said
  return status >= 200 && status < 300 ? 'the answer is not JSON' : `the service answered ${status} without a reason`
}
