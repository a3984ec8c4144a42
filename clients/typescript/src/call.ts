import { errorOfAnswer, isRetriable, WeirError } from './weir-error.js'

/** What a caller may say about any request. */
export type CallOptions = {
  /** Ends the call, its waits too, at once. It then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Is called before each wait for another attempt. */
  onRetry?: ((retry: RetryNotice) => void) | undefined
  /** Milliseconds after which no further attempt is made, and one under way is given up. Ten minutes unless said. */
  giveUpAfterMs?: number | undefined
}

/** An attempt that failed, and how long the next one is waited for. `status` is undefined where no answer came. */
export type RetryNotice = { attempt: number; status: number | undefined; message: string; waitMs: number }

type CallRequest = {
  method: 'GET' | 'POST' | 'PATCH'
  /** With its query string. */
  path: string
  /** JSON. It is the same text in each attempt: with another one the Idempotency-Key would be refused. */
  body?: string
  /** Instead of it: a body of any length in lines, the same bytes each time that it is opened, answered in lines meanwhile. */
  lined?: LinedBody | undefined
  idempotencyKey?: string | undefined
  /** For an answer that says by itself that not all is decided: what to say if it stays so. */
  undecided?: (json: unknown) => string | undefined
  keepalive?: boolean | undefined
  /** For an answer that is sent while it is read: an attempt may take all of the time that there is. */
  mayTakeLong?: boolean | undefined
}

export type LinedBody = {
  headers: Record<string, string>
  open: () => BodyInit
  /** Is called for each line of the answer as it comes. What it throws ends the call; the last line is what the answer is judged by. */
  onLine: (line: unknown) => Promise<void>
}

type CallAnswer = { status: number; json: unknown; headers: Headers }

/** Makes one request, again and again where that may help, and resolves to the answer that settles it. */
export type Call = (request: CallRequest, options?: CallOptions) => Promise<CallAnswer>

export const createCall =
  ({ url, key, fetch }: { url: string; key: string; fetch: typeof globalThis.fetch }): Call =>
  async (request, { signal, onRetry, giveUpAfterMs = 600_000 } = {}) => {
    const advice = 'give it as a number of milliseconds, like 60_000'
    if (!(giveUpAfterMs > 0)) throw new WeirError('usage', `giveUpAfterMs is ${giveUpAfterMs}`, advice)
    let endsAt = performance.now() + giveUpAfterMs
    const { lined } = request
    const headers = {
      accept: lined ? 'application/x-ndjson, application/json' : 'application/json',
      authorization: `Bearer ${key}`,
      ...(request.body !== undefined && { 'content-type': 'application/json' }),
      ...lined?.headers,
      ...(request.idempotencyKey !== undefined && { 'idempotency-key': request.idempotencyKey }),
    }
    const attempt = () => {
      const init = {
        method: request.method,
        headers,
        redirect: 'manual' as const,
        ...(request.keepalive && { keepalive: true }),
        ...(request.body !== undefined && { body: request.body }),
        // Without duplex, Node and browsers refuse a body that is a stream.
        ...(lined && { body: lined.open(), duplex: 'half' }),
      }
      const left = Math.max(0, endsAt - performance.now())
      const longest = lined || request.mayTakeLong ? left : Math.min(longestAttempt(request), left)
      return fetchWithin(longest, signal, async (ending, begin) => {
        const response = await fetch(url + request.path, { ...init, signal: ending })
        const { status, headers } = response
        if (!lined || !response.ok) return { status, headers, text: await response.text() }
        // It may go on for hours: its time begins anew with each line.
        const text = await lastLineOf(response, async (line) => {
          endsAt = performance.now() + giveUpAfterMs
          begin(giveUpAfterMs)
          await lined.onLine(line)
        })
        return { status, headers, text }
      })
    }

    for (let attempts = 1; ; attempts += 1) {
      const failure = await attempt().then(
        ({ status, headers, text }) => judge(request, { status, headers, json: parse(text) }),
        (cause: unknown) =>
          cause instanceof WeirError ? { error: cause, retryAfterMs: undefined } : noAnswer(url, request, cause),
      )
      if ('answered' in failure) return failure.answered
      signal?.throwIfAborted()
      const { error, retryAfterMs } = failure
      if (retryAfterMs === undefined) throw error
      const waitMs = Math.max(retryAfterMs && retryAfterMs + Math.random() * spread, jitter(attempts))
      // An attempt that has no time to be answered would only hide what was heard last.
      if (performance.now() + waitMs + Math.min(1_000, giveUpAfterMs / 10) > endsAt) throw error
      onRetry?.({ attempt: attempts, status: error.status, message: error.message, waitMs })
      await pause(waitMs, signal)
    }
  }

/** Whether an answer settles the request; if not, why, and how long the next attempt has to wait (undefined: none may help). */
const judge = (
  request: CallRequest,
  answered: CallAnswer,
): { answered: CallAnswer } | { error: WeirError; retryAfterMs: number | undefined } => {
  const { status, json, headers } = answered
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), Date.now())
  const undecided = request.undecided?.(json)
  if (undecided !== undefined) {
    const remedy = 'try again later with the same records and the same Idempotency-Key; nothing is taken twice'
    const requestId = (json as { request_id?: string }).request_id
    const more = { status, requestId, idempotencyKey: request.idempotencyKey }
    return { error: new WeirError('server', undecided, remedy, more), retryAfterMs }
  }
  if (isRetriable(status)) return { error: errorOfAnswer(status, json, request.idempotencyKey), retryAfterMs }
  if (json === undefined && status >= 200 && status < 300) {
    const remedy = 'check that the url given to createWeir is that of Weir'
    return { error: new WeirError('server', 'the answer is not JSON', remedy, { status }), retryAfterMs: undefined }
  }
  if ((status >= 200 && status < 300) || (status === 400 && request.undecided && hasBatches(json))) return { answered }
  return { error: errorOfAnswer(status, json, request.idempotencyKey), retryAfterMs: undefined }
}

/** A 400 with batches is an upload of which every record was refused; one without is no upload at all. */
const hasBatches = (json: unknown): boolean => Array.isArray((json as { batches?: unknown } | undefined)?.batches)

const noAnswer = (
  url: string,
  { idempotencyKey }: CallRequest,
  cause: unknown,
): { error: WeirError; retryAfterMs: number | undefined } => {
  // Node's fetch says only "fetch failed"; its cause says more. Where a name has several addresses, it has a code and no text.
  const { message, code } = ((cause as { cause?: unknown }).cause ?? cause) as { message?: string; code?: unknown }
  const reason = message || (typeof code === 'string' ? code : String(cause))
  const isUntrusted = typeof code === 'string' && /CERT|SIGNATURE|^ERR_TLS/.test(code)
  const remedy = isUntrusted
    ? 'its certificate is not trusted here: check the url; in Node, NODE_EXTRA_CA_CERTS names a file with the authority that signed it'
    : 'check that the url is right and the service can be reached; with the same Idempotency-Key nothing is taken twice'
  const error = new WeirError('network', `no answer from ${url}: ${reason}`, remedy, { idempotencyKey, cause })
  return { error, retryAfterMs: isUntrusted ? undefined : 0 }
}

/** Hands over the lines of an answer as they come, and returns the last of them. One that ends within a line was cut off. */
const lastLineOf = async (response: Response, onLine: (line: unknown) => Promise<void>): Promise<string> => {
  const decoder = new TextDecoder()
  const reader = response.body?.getReader()
  let last = ''
  let rest = ''
  try {
    for (let isOver = !reader; !isOver; ) {
      const piece = await reader?.read()
      isOver = !piece || piece.done
      const lines = (rest + decoder.decode(piece?.value, { stream: !isOver })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line.trim() === '') continue
        await onLine(parse(line))
        last = line
      }
    }
  } catch (reason) {
    // The rest is not read: without this the connection would stay open.
    reader?.cancel().catch(() => {})
    throw reason
  }
  if (rest.trim() !== '' || last === '') throw new Error('the answer was cut off')
  return last
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Milliseconds that a Retry-After header asks for, given in seconds or as a date; 0 where there is none. */
const readRetryAfter = (header: string | null, now: number): number => {
  if (header === null) return 0
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}

const shortestWait = 500
const longestWait = 8_000
// Requests that got the same Retry-After together come back within this time, not at the same moment.
const spread = 1_000

/** Anywhere from half a second to a bound that doubles with each attempt: clients that failed together come back apart. */
const jitter = (attempts: number): number =>
  shortestWait + Math.random() * (Math.min(longestWait, shortestWait * 2 ** attempts) - shortestWait)

// An answer takes 30 s at the most while a verdict is waited for, and some more under load. A slow line needs time for its body
// too: 32 bytes in a millisecond are a quarter of a megabit in a second.
const longestAttempt = ({ body }: CallRequest): number => 90_000 + (body?.length ?? 0) / 32

/** Runs the work with a signal that ends it after a time, which it may begin anew, or when the caller's own signal says so. */
const fetchWithin = async <T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (ending: AbortSignal, begin: (ms: number) => void) => Promise<T>,
): Promise<T> => {
  signal?.throwIfAborted()
  // Not AbortSignal.any: on Node 20 it keeps memory for as long as the caller's signal lives.
  const ending = new AbortController()
  const stop = () => ending.abort(signal?.reason)
  let timer: ReturnType<typeof setTimeout> | undefined
  const begin = (within: number) => {
    clearTimeout(timer)
    const end = () => ending.abort(new Error(`none within ${Math.round(within / 1000)} s`))
    timer = setTimeout(end, Math.min(within, longestTimer))
  }
  begin(ms)
  signal?.addEventListener('abort', stop)
  try {
    return await work(ending.signal, begin)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** Waits; rejects with the signal's reason once that is aborted. */
export const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const end = () => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }
    const timer = setTimeout(end, Math.min(ms, longestTimer))
    signal?.addEventListener('abort', stop, { once: true })
  })

// A timer for longer than this fires at once.
const longestTimer = 2 ** 31 - 1
