import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createWeir, type UploadProgress, WeirError } from '../../../clients/typescript/src/index.js'
import { anyMishap, createFakeWeir, inFakeTime, type Mishap, sequence } from './fake-weir.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const url = 'http://weir.test'
type Shop = { shop_id: string; name: string; region: string }
const shopOf = (id: number, version: number, isBad = false): Shop => ({
  shop_id: `shop-${id}`,
  name: isBad ? 'bad' : `good ${version}`,
  region: 'GB',
})
const weirOf = (fake: { fetch: typeof fetch }) => createWeir({ url, key: 'k', fetch: fake.fetch })

/** Gives items one by one, each after a moment, and counts what was asked for. */
async function* slowly<T>(items: readonly T[], taken: { count: number; isClosed?: boolean }) {
  try {
    for (const item of items) {
      await new Promise((resolve) => setTimeout(resolve, 1))
      taken.count += 1
      yield item
    }
  } finally {
    taken.isClosed = true
  }
}

it('decides each record once and those of one id in order, whatever goes wrong', async () => {
  const anyItem = fc.tuple(fc.nat(6), fc.boolean())
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyItem, { maxLength: 40 }),
      fc.array(fc.option(anyMishap, { nil: undefined }), { maxLength: 20 }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      async (items, mishaps, batchSize, inFlight, isAsync) => {
        const fake = createFakeWeir({ next: sequence(mishaps) })
        const given = items.map(([id, isBad], version) => shopOf(id, version, isBad))
        const refused: unknown[] = []
        let last: UploadProgress | undefined
        const result = await inFakeTime(
          weirOf(fake).shops.upload(isAsync ? slowly(given, { count: 0 }) : given, {
            batchSize,
            inFlight,
            onRefused: ({ index, record, id, problems }) => {
              expect(record).toBe(given[index])
              expect(id).toBe(record.shop_id)
              expect(problems).toHaveLength(1)
              refused.push(index)
            },
            onProgress: (progress) => {
              expect(progress.settled).toBeGreaterThanOrEqual(last?.settled ?? 0)
              last = progress
            },
          }),
        )
        expect(fake.clashes).toEqual([])
        for (let id = 0; id <= 6; id += 1) {
          const of = (shops: readonly unknown[]) => shops.filter((shop) => (shop as Shop).shop_id === `shop-${id}`)
          expect(of(fake.decided)).toEqual(of(given))
        }
        const bad = given.flatMap(({ name }, i) => (name === 'bad' ? [i] : []))
        expect([...refused].sort((a, b) => Number(a) - Number(b))).toEqual(bad)
        expect(result).toMatchObject({ accepted: given.length - bad.length, refused: bad.length })
        if (given.length > 0) expect(last).toEqual({ read: given.length, settled: given.length, ...result })
      },
    ),
    { numRuns: 60 },
  )
})

it('reads no further ahead than what is under way', async () => {
  const never: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  const given = Array.from({ length: 60 }, (_, i) => shopOf(i, i))
  const controller = new AbortController()
  const taken = { count: 0, isClosed: false }
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 1000)
  const failed = weirOf({ fetch: never }).shops.upload(slowly(given, taken), {
    batchSize: 5,
    inFlight: 2,
    signal: controller.signal,
  })
  expect(await inFakeTime(failed.catch((thrown: unknown) => thrown))).toBe(reason)
  expect(taken).toEqual({ count: 10, isClosed: true })
})

it('ends at once when its signal says so while the source has nothing to give', async () => {
  const fake = createFakeWeir({ next: () => undefined })
  async function* silent(): AsyncGenerator<Shop> {
    yield shopOf(1, 1)
    await new Promise(() => {})
  }
  const controller = new AbortController()
  const reason = new Error('enough')
  setTimeout(() => controller.abort(reason), 1000)
  const failed = weirOf(fake).shops.upload(silent(), { signal: controller.signal })
  expect(await inFakeTime(failed.catch((thrown: unknown) => thrown))).toBe(reason)
})

it('awaits what is under way when the source fails, and says how far it came', async () => {
  const fake = createFakeWeir({ next: sequence([{ kind: 'refuse', status: 503 }]) })
  const cause = new Error('the disk is gone')
  function* broken() {
    for (let i = 0; i < 12; i += 1) yield shopOf(i, i)
    throw cause
  }
  const failed = weirOf(fake).shops.upload(broken(), { batchSize: 5 })
  const error = await inFakeTime(failed.catch((thrown: unknown) => thrown))
  expect(error).toMatchObject({ kind: 'usage', cause, progress: { read: 10, settled: 10, accepted: 10, refused: 0 } })
  expect(String(error)).toContain('record 12 could not be read: Error: the disk is gone')
  expect(fake.decided).toHaveLength(10)
})

it('stops when a callback fails, closes the source, and counts as settled only what was told', async () => {
  const fake = createFakeWeir({ next: () => undefined })
  const given = Array.from({ length: 40 }, (_, i) => shopOf(i, i, i === 12))
  const taken = { count: 0, isClosed: false }
  const failed = weirOf(fake).shops.upload(slowly(given, taken), {
    batchSize: 5,
    inFlight: 2,
    onRefused: () => Promise.reject(new Error('disk full')),
  })
  const error = (await inFakeTime(failed.catch((thrown: unknown) => thrown))) as WeirError
  expect(error).toBeInstanceOf(WeirError)
  expect(error.message).toContain('onRefused failed: Error: disk full')
  expect(error.progress).toMatchObject({ settled: 10, accepted: 10, refused: 0 })
  expect(taken.isClosed).toBe(true)
  expect(taken.count).toBeLessThan(40)
})

it('sends nothing more after an error, nor a later record of an id whose outcome is unknown', async () => {
  const fake = createFakeWeir({ next: sequence([undefined, { kind: 'refuse', status: 401 }]) })
  const given = Array.from({ length: 30 }, (_, i) => shopOf(i % 5, i))
  const failed = weirOf(fake).shops.upload(given, { batchSize: 5, inFlight: 4 })
  const error = await inFakeTime(failed.catch((thrown: unknown) => thrown))
  expect(error).toMatchObject({ kind: 'key', status: 401, progress: { settled: 5, accepted: 5 } })
  expect(fake.attempts).toHaveLength(2)
})

it('sends in halves what is too large for a proxy on the way, and smaller requests from then on', async () => {
  const small = createFakeWeir({ next: () => undefined })
  const tooLarge = new Response('<html>413</html>', { status: 413 })
  const proxy: typeof fetch = (input, init) =>
    String(init?.body).length > 1000 ? Promise.resolve(tooLarge.clone()) : small.fetch(input, init)
  const given = Array.from({ length: 100 }, (_, i) => shopOf(i % 40, i, i % 10 === 9))
  const indexes: number[] = []
  const result = await inFakeTime(
    createWeir({ url, key: 'k', fetch: proxy }).shops.upload(given, {
      batchSize: 50,
      inFlight: 2,
      onRefused: ({ index, record }) => {
        expect(record).toBe(given[index])
        indexes.push(index)
      },
    }),
  )
  expect(result).toMatchObject({ accepted: 90, refused: 10 })
  expect(indexes.sort((a, b) => a - b)).toEqual([9, 19, 29, 39, 49, 59, 69, 79, 89, 99])
  expect(small.clashes).toEqual([])
  expect(small.decided).toHaveLength(100)
})

it('cuts by bytes and by the number of values as well', async () => {
  const fake = createFakeWeir({ next: () => undefined })
  const wide = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`field_${i}`, i]))
  await inFakeTime(weirOf(fake).of('shops').upload(Array(2000).fill(wide)))
  expect(fake.attempts.map(({ body }) => JSON.parse(body).records.length)).toEqual([900, 900, 200])
  fake.attempts.length = 0
  const long = { name: 'é'.repeat(3 * 1024 * 1024) }
  await inFakeTime(weirOf(fake).of('shops').upload(Array(5).fill(long)))
  expect(fake.attempts.map(({ body }) => JSON.parse(body).records.length)).toEqual([2, 2, 1])
})

it('has fewer requests under way while the service is busy', async () => {
  const busy: Mishap = { kind: 'refuse', status: 429, retryAfter: '1' }
  let underWay = 0
  let most = 0
  const fake = createFakeWeir({ next: sequence(Array(8).fill(busy)) })
  const counted: typeof fetch = async (input, init) => {
    underWay += 1
    most = Math.max(most, underWay)
    // Longer than a refused request waits, so that those are under way again with the others.
    await new Promise((resolve) => setTimeout(resolve, 3000))
    return fake.fetch(input, init).finally(() => {
      underWay -= 1
    })
  }
  const given = Array.from({ length: 500 }, (_, i) => shopOf(i, i))
  const seen: number[] = []
  await inFakeTime(
    createWeir({ url, key: 'k', fetch: counted }).shops.upload(given, {
      batchSize: 5,
      inFlight: 8,
      onProgress: () => {
        seen.push(most)
        most = underWay
      },
    }),
  )
  expect(seen[0]).toBe(8)
  expect(Math.max(...seen.slice(8, 12))).toBeLessThan(8)
  expect(Math.max(...seen.slice(50, 80))).toBe(8)
})

it('takes only what can be iterated', async () => {
  const { shops } = weirOf(createFakeWeir({ next: () => undefined }))
  await expect(shops.upload({} as never)).rejects.toThrow('upload() takes an array')
  await expect(shops.upload('shops.csv' as never)).rejects.toThrow('upload() takes an array')
  const circle: Record<string, unknown> = {}
  circle.circle = circle
  await expect(shops.upload([circle as never])).rejects.toThrow('record 0 cannot be written as JSON')
  // As they come from settings that were misread: nothing would be sent, and nobody would notice.
  await expect(shops.upload([], { batchSize: Number.NaN })).rejects.toThrow('batchSize is NaN')
  await expect(shops.upload([], { inFlight: 0 })).rejects.toThrow('0 requests at once')
  expect(await shops.upload([])).toEqual({ accepted: 0, refused: 0, waiting: 0, requests: 0 })
})
