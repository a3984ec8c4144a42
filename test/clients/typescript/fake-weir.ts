import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { vi } from 'vitest'

/** What went to the fake service in one attempt. */
export type Attempt = { method: string; path: string; headers: Headers; body: string }

/** What becomes of an attempt: the service answers, or one of these goes wrong. */
export type Mishap =
  | { kind: 'refuse'; status: number; retryAfter?: string }
  /** The connection breaks before the service has seen the request, or after it decided it. */
  | { kind: 'lost' }
  | { kind: 'answer lost' }
  /** Only the first so many batches are decided; the others are told as unknown. */
  | { kind: 'partly decided'; batches: number }

type Item = Record<string, unknown>

const batchRecords = 3

/**
 * A service in memory that keeps its promises: a batch has one decision, a key belongs to its first body, records are decided
 * in the order in which they arrive. A record is refused where its name is 'bad'.
 */
export const createFakeWeir = ({ idField = 'shop_id', next }: { idField?: string; next: () => Mishap | undefined }) => {
  const attempts: Attempt[] = []
  /** Each decision that was taken on an id, in order. */
  const decided: Item[] = []
  const bodies = new Map<string, string>()
  const verdicts = new Map<string, { index: number; id: string; problems: unknown[] }[]>()
  const under = new Map<string, number>()
  /** Ids that were in two requests at once. */
  const clashes: string[] = []

  const decide = (key: string, records: Item[], most: number) => {
    const slices = Array.from({ length: Math.ceil(records.length / batchRecords) }, (_, i) => i)
    return slices.map((i) => {
      const name = `${key}/${i}`
      const slice = records.slice(i * batchRecords, (i + 1) * batchRecords)
      if (!verdicts.has(name) && i < most) {
        decided.push(...slice)
        verdicts.set(
          name,
          slice.flatMap((item, at) =>
            item.name === 'bad'
              ? [
                  {
                    index: i * batchRecords + at,
                    id: String(item[idField]),
                    problems: [{ code: 'bad_format', field: 'name', message: 'name is bad' }],
                  },
                ]
              : [],
          ),
        )
      }
      const errors = verdicts.get(name)
      const status = !errors ? 500 : errors.length === 0 ? 200 : errors.length === slice.length ? 400 : 207
      const error = errors ? null : 'outcome unknown; retrying is safe'
      return { batch: i + 1, status, data: { error, ...(errors?.length && { errors }) } }
    })
  }

  const upload = (attempt: Attempt, mishap: Mishap | undefined): Response => {
    const key = attempt.headers.get('idempotency-key') ?? `none-${attempts.length}`
    if ((bodies.get(key) ?? attempt.body) !== attempt.body)
      return json(409, { error: 'Conflict', message: 'this Idempotency-Key was used with another body' })
    bodies.set(key, attempt.body)
    const { records } = JSON.parse(attempt.body) as { records: Item[] }
    const most = mishap?.kind === 'partly decided' ? mishap.batches : Number.POSITIVE_INFINITY
    const batches = decide(key, records, most)
    const statuses = new Set(batches.map(({ status }) => status))
    const [first = 500] = statuses
    return json(statuses.size === 1 ? first : 207, { request_id: `request-${hash(key)}`, type: 'shops', batches })
  }

  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const url = new URL(String(input))
    const attempt: Attempt = {
      method: init.method ?? 'GET',
      path: url.pathname + url.search,
      headers: new Headers(init.headers),
      body: String(init.body ?? ''),
    }
    attempts.push(attempt)
    const ids = idsIn(attempt.body, idField)
    for (const id of ids) {
      if (under.get(id)) clashes.push(id)
      under.set(id, (under.get(id) ?? 0) + 1)
    }
    try {
      const mishap = next()
      // Requests overlap: each is under way for a while, in the clock of the test.
      await new Promise((resolve, reject) => {
        const timer = setTimeout(resolve, 5 + (attempts.length % 7))
        init.signal?.addEventListener('abort', () => {
          clearTimeout(timer)
          reject(init.signal?.reason)
        })
      })
      if (mishap?.kind === 'lost') throw new TypeError('fetch failed')
      if (mishap?.kind === 'refuse') {
        const headers = mishap.retryAfter === undefined ? {} : { 'retry-after': mishap.retryAfter }
        return json(mishap.status, { error: 'x', message: `the fake says ${mishap.status}` }, headers)
      }
      const response = upload(attempt, mishap)
      if (mishap?.kind === 'answer lost') throw new TypeError('fetch failed')
      return response
    } finally {
      for (const id of ids) under.set(id, (under.get(id) ?? 1) - 1)
    }
  }
  return { fetch, attempts, decided, clashes }
}

const idsIn = (body: string, idField: string): Set<string> =>
  new Set((JSON.parse(body || '{"records":[]}') as { records: Item[] }).records.map((item) => String(item[idField])))

const json = (status: number, payload: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(payload), { status, headers: { 'content-type': 'application/json', ...headers } })

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)

/** Mishaps one after another; then everything goes well. */
export const sequence = (mishaps: readonly (Mishap | undefined)[]): (() => Mishap | undefined) => {
  const left = [...mishaps]
  return () => left.shift()
}

/** What a client has to get over by itself. */
export const anyMishap: fc.Arbitrary<Mishap> = fc.oneof(
  fc.record({ kind: fc.constant('refuse' as const), status: fc.constantFrom(408, 429, 500, 502, 503, 504) }),
  fc.constant({ kind: 'lost' as const }),
  fc.constant({ kind: 'answer lost' as const }),
  fc.record({ kind: fc.constant('partly decided' as const), batches: fc.nat(3) }),
)

/** Lets the work go on in a clock that jumps to the next timer. */
export const inFakeTime = async <T>(work: Promise<T>): Promise<T> => {
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  while (!isOver) await vi.advanceTimersToNextTimerAsync()
  return work
}
