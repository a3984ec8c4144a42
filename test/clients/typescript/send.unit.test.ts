import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createWeir, type RetryNotice, WeirError } from '../../../clients/typescript/src/index.js'
import { anyMishap, createFakeWeir, inFakeTime, type Mishap, sequence } from './fake-weir.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const url = 'http://weir.test'
const shops = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ shop_id: `shop-${i}`, name: i % 4 === 3 ? 'bad' : 'good', region: 'GB' }))

it('decides each record once, whatever goes wrong on the way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyMishap, { maxLength: 8 }), fc.integer({ min: 1, max: 12 }), async (mishaps, count) => {
      const fake = createFakeWeir({ next: sequence(mishaps) })
      const given = shops(count)
      const result = await inFakeTime(createWeir({ url, key: 'k', fetch: fake.fetch }).shops.send(given))
      expect(fake.decided).toEqual(given)
      const bad = given.flatMap(({ name }, i) => (name === 'bad' ? [i] : []))
      expect(result.refused.map(({ index }) => index)).toEqual(bad)
      expect(result.accepted).toBe(count - bad.length)
      expect(new Set(fake.attempts.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1)
      expect(new Set(fake.attempts.map(({ body }) => body)).size).toBe(1)
    }),
  )
})

it.each([400, 401, 403, 404, 405, 409, 413, 415, 501])('does not try again after a %i', async (status) => {
  const fake = createFakeWeir({ next: () => ({ kind: 'refuse', status }) })
  const failed = createWeir({ url, key: 'k', fetch: fake.fetch }).shops.send(shops(1))
  const error = await inFakeTime(failed.catch((thrown: unknown) => thrown))
  expect(error).toBeInstanceOf(WeirError)
  const kinds: Record<number, string> = { 401: 'key', 403: 'key', 409: 'conflict', 501: 'server' }
  expect(error).toMatchObject({ status, kind: kinds[status] ?? 'usage', message: `the fake says ${status}` })
  expect(fake.attempts).toHaveLength(1)
})

it('waits from half a second to a bound that doubles up to 8 s, and as long as Retry-After says', async () => {
  const date = new Date(Date.now() + 60_000).toUTCString()
  const refusals = ['20', date, undefined, undefined, undefined, undefined, undefined].map(
    (retryAfter): Mishap => ({
      kind: 'refuse',
      status: 503,
      ...(retryAfter !== undefined && { retryAfter }),
    }),
  )
  const fake = createFakeWeir({ next: sequence(refusals) })
  const retries: RetryNotice[] = []
  const onRetry = (retry: RetryNotice) => void retries.push(retry)
  await inFakeTime(createWeir({ url, key: 'k', fetch: fake.fetch }).shops.send(shops(1), { onRetry }))
  const [seconds = 0, untilDate = 0, ...others] = retries.map(({ waitMs }) => waitMs)
  expect(seconds).toBeGreaterThanOrEqual(20_000)
  expect(seconds).toBeLessThanOrEqual(21_000)
  // A second for the part that a date leaves out, and those that were waited before.
  expect(untilDate).toBeGreaterThan(37_000)
  expect(untilDate).toBeLessThanOrEqual(41_000)
  others.forEach((waitMs, i) => {
    expect(waitMs).toBeGreaterThanOrEqual(500)
    expect(waitMs).toBeLessThanOrEqual(Math.min(8000, 500 * 2 ** (i + 3)))
  })
  expect(retries.map(({ attempt, status }) => ({ attempt, status }))).toEqual(
    refusals.map((_, i) => ({ attempt: i + 1, status: 503 })),
  )
})

it('ends a wait at once when its signal says so', async () => {
  const fake = createFakeWeir({ next: () => ({ kind: 'refuse', status: 503, retryAfter: '100' }) })
  const controller = new AbortController()
  const reason = new Error('enough')
  const onRetry = () => void setTimeout(() => controller.abort(reason), 10)
  const failed = createWeir({ url, key: 'k', fetch: fake.fetch }).shops.send(shops(1), {
    signal: controller.signal,
    onRetry,
  })
  const began = Date.now()
  expect(await inFakeTime(failed.catch((thrown: unknown) => thrown))).toBe(reason)
  expect(Date.now() - began).toBeLessThan(100)
})

it('ends an attempt at once when its signal says so, and makes none after that', async () => {
  let attempts = 0
  const never: typeof fetch = (_, init) => {
    attempts += 1
    return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  }
  const { shops: uploads } = createWeir({ url, key: 'k', fetch: never })
  const controller = new AbortController()
  const { signal } = controller
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 10)
  const began = Date.now()
  expect(await inFakeTime(uploads.send(shops(1), { signal }).catch((thrown: unknown) => thrown))).toBe(reason)
  expect(Date.now() - began).toBe(10)
  await expect(uploads.send(shops(1), { signal })).rejects.toBe(reason)
  await expect(uploads.upload(shops(1), { signal })).rejects.toBe(reason)
  expect(attempts).toBe(1)
})

it('ends a wait that has not begun when onRetry itself gives up', async () => {
  const fake = createFakeWeir({ next: () => ({ kind: 'refuse', status: 503, retryAfter: '100' }) })
  const controller = new AbortController()
  const { signal } = controller
  const onRetry = () => controller.abort(new Error('enough'))
  const sent = createWeir({ url, key: 'k', fetch: fake.fetch }).shops.send(shops(1), { signal, onRetry })
  expect(String(await inFakeTime(sent.catch((thrown: unknown) => thrown)))).toBe('Error: enough')
  expect(fake.attempts).toHaveLength(1)
})

it('follows no redirect: a POST would arrive as a GET, or elsewhere with the key', async () => {
  const seen: unknown[] = []
  const redirecting: typeof fetch = async (_, init) => {
    seen.push(init?.redirect)
    return new Response(null, { status: 308, headers: { location: 'https://elsewhere.test' } })
  }
  const sent = createWeir({ url, key: 'k', fetch: redirecting }).shops.send(shops(1))
  await expect(sent).rejects.toMatchObject({ kind: 'usage', status: 308 })
  expect(seen).toEqual(['manual'])
})

it('gives up at its deadline, and says with which key to go on', async () => {
  const fake = createFakeWeir({ next: () => ({ kind: 'partly decided', batches: 1 }) })
  const failed = createWeir({ url, key: 'k', fetch: fake.fetch }).shops.send(shops(9), {
    idempotencyKey: 'mine',
    giveUpAfterMs: 30_000,
  })
  const error = await inFakeTime(failed.catch((thrown: unknown) => thrown))
  expect(error).toMatchObject({ kind: 'server', status: 207, idempotencyKey: 'mine' })
  expect(String(error)).toContain('2 of 3 batches are not decided')
})

it('begins no attempt that has no time to be answered: what was heard last is what it says', async () => {
  // Each wait is half a second, and an answer takes 6, 7, 8 and 9 ms: a fourth attempt would have 3.
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const fake = createFakeWeir({ next: () => ({ kind: 'partly decided', batches: 1 }) })
  const failed = createWeir({ url, key: 'k', fetch: fake.fetch }).shops.send(shops(9), { giveUpAfterMs: 1_524 })
  const error = await inFakeTime(failed.catch((thrown: unknown) => thrown))
  vi.restoreAllMocks()
  expect(error).toMatchObject({ kind: 'server', status: 207 })
})

it('gives up an answer that never comes', async () => {
  const never: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  const failed = createWeir({ url, key: 'k', fetch: never }).shops.send(shops(1), { giveUpAfterMs: 5_000 })
  const error = await inFakeTime(failed.catch((thrown: unknown) => thrown))
  expect(error).toMatchObject({ kind: 'network', status: undefined })
  expect(String(error)).toContain('none within 5 s')
})

it('says what fetch hides in its causes, and does not try again where nobody is trusted', async () => {
  const failing =
    (cause: object): typeof fetch =>
    () =>
      Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error(), cause) }))
  const errorOf = (cause: object, giveUpAfterMs: number) =>
    inFakeTime(
      createWeir({ url, key: 'k', fetch: failing(cause) })
        .shops.send(shops(1), { giveUpAfterMs })
        .catch((thrown: WeirError) => thrown.message),
    )
  expect(await errorOf({ code: 'ECONNREFUSED' }, 400)).toBe('no answer from http://weir.test: ECONNREFUSED')
  const untrusted = { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', message: 'self-signed certificate' }
  const began = Date.now()
  expect(await errorOf(untrusted, 60_000)).toBe('no answer from http://weir.test: self-signed certificate')
  expect(Date.now() - began).toBe(0)
})

it('lets the service refuse what JSON has no form for, instead of dropping it', async () => {
  const fake = createFakeWeir({ next: () => undefined })
  const weir = createWeir({ url, key: 'k', fetch: fake.fetch })
  await inFakeTime(
    weir
      .of('offers')
      .send([
        { value: Number.NaN, created: new Date(Number.NaN) },
        { value: 5n, created: new Date(0) },
        undefined as never,
      ]),
  ).catch(() => {})
  expect(fake.attempts[0]?.body).toBe(
    '{"records":[{"value":"NaN","created":"Invalid Date"},{"value":"5","created":"1970-01-01T00:00:00.000Z"},null]}',
  )
})

it('sends a dry run without a key, and refuses what makes no request', async () => {
  const fake = createFakeWeir({ next: () => undefined })
  const weir = createWeir({ url: `${url}/behind/a/proxy/`, key: 'k', fetch: fake.fetch })
  await inFakeTime(weir.shops.send(shops(1), { dryRun: true }))
  expect(fake.attempts[0]?.path).toBe('/behind/a/proxy/v1/data/shops?dry_run=true')
  expect(fake.attempts[0]?.headers.get('idempotency-key')).toBeNull()
  await expect(weir.shops.send([])).rejects.toThrow('carries 1 to 5000')
  await expect(weir.courses.send(Array(1001).fill({ course_id: '', name: '' }))).rejects.toThrow('1 to 1000')
  await expect(weir.shops.send(shops(1), { giveUpAfterMs: Number.NaN })).rejects.toThrow('giveUpAfterMs is NaN')
  expect(() => weir.of('shop')).toThrow('there is no type "shop"')
  expect(() => createWeir({ url: 'weir.test', key: 'k' })).toThrow('not a url')
  expect(() => createWeir({ url, key: 'k\n' })).toThrow('characters that no key has')
})
