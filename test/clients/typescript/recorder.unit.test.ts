import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createWeir,
  type Interaction,
  type RecorderLoss,
  type RecorderOptions,
  type RecorderRefusal,
} from '../../../clients/typescript/src/index.js'
import { anyMishap, createFakeWeir, inFakeTime, type Mishap, sequence } from './fake-weir.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** The fake service refuses what has the name `bad`. */
const one = (n: number, name = 'good') => ({ user_id: `user ${n}`, name }) as unknown as Interaction

const open = (next: () => Mishap | undefined, options: RecorderOptions = {}) => {
  const fake = createFakeWeir({ idField: 'user_id', next })
  const refused: RecorderRefusal[] = []
  const lost: RecorderLoss[] = []
  const recorder = createWeir({ url: 'http://weir.test', key: 'k', fetch: fake.fetch }).recorder({
    onRefused: (one) => refused.push(one),
    onLost: (one) => lost.push(one),
    ...options,
  })
  const decided = () => fake.decided.map(({ user_id }) => user_id)
  return { fake, recorder, refused, lost, decided }
}
const users = (count: number) => Array.from({ length: count }, (_, n) => `user ${n}`)
const keysOf = ({ attempts }: ReturnType<typeof createFakeWeir>) =>
  attempts.map(({ headers }) => headers.get('idempotency-key'))

it('records each once, whatever goes wrong on the way, and tells which were refused', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyMishap, { maxLength: 12 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 9 }),
      async (mishaps, count, batchSize) => {
        const { fake, recorder, refused, decided } = open(sequence(mishaps), { batchSize })
        for (let n = 0; n < count; n++) expect(recorder.record(one(n, n % 4 === 3 ? 'bad' : 'good'))).toBe(true)
        const bad = Math.floor(count / 4)
        const ended = await inFakeTime(recorder.close({ withinMs: 600_000 }))
        expect(ended).toEqual({ accepted: count - bad, refused: bad, waiting: 0, lost: 0, held: 0 })
        expect(decided().sort()).toEqual(users(count).sort())
        expect(refused.map(({ interaction }) => interaction.user_id).sort()).toEqual(
          users(count)
            .filter((_, n) => n % 4 === 3)
            .sort(),
        )
        expect(new Set(keysOf(fake)).size).toBe(Math.ceil(count / batchSize))
        for (const { path } of fake.attempts) expect(path).toBe('/v1/data/interactions')
      },
    ),
  )
})

it('sends by size at once, and fewer after a while', async () => {
  const { recorder, decided } = open(() => undefined, { batchSize: 3, everyMs: 700 })
  for (let n = 0; n < 4; n++) recorder.record(one(n))
  await vi.advanceTimersByTimeAsync(100)
  expect(decided()).toEqual(users(3))
  await vi.advanceTimersByTimeAsync(700)
  expect(decided()).toEqual(users(4))
  expect(recorder.counts()).toEqual({ accepted: 4, refused: 0, waiting: 0, lost: 0, held: 0 })
  await recorder.close()
})

it('takes an interaction as it was when it was recorded', async () => {
  const { recorder, decided } = open(() => undefined)
  const changing = { ...one(0) }
  recorder.record(changing)
  changing.user_id = 'another'
  await inFakeTime(recorder.flush())
  expect(decided()).toEqual(['user 0'])
})

describe('while the service is away', () => {
  const away: Mishap = { kind: 'lost' }

  it('keeps what it holds, with its key, for as long as there is room', async () => {
    let isAway = true
    const { fake, recorder, lost, decided } = open(() => (isAway ? away : undefined), { batchSize: 2 })
    recorder.record(one(0))
    recorder.record(one(1))
    await vi.advanceTimersByTimeAsync(300_000)
    expect(recorder.counts().held).toBe(2)
    await expect(inFakeTime(recorder.flush())).rejects.toThrow('no answer from http://weir.test')
    isAway = false
    await vi.advanceTimersByTimeAsync(60_000)
    expect([decided(), lost, recorder.counts().held]).toEqual([users(2), [], 0])
    expect(fake.attempts.length).toBeGreaterThan(10)
    expect(new Set(keysOf(fake)).size).toBe(1)
  })

  it.each([
    ['refuse' as const, users(2), [false, [['user 2']]]],
    ['dropOldest' as const, ['user 2'], [true, [['user 0', 'user 1']]]],
  ])('does when it is full as it was told: %s', async (whenFull, kept, told) => {
    const size = JSON.stringify(one(0)).length + 1
    let isAway = true
    const options = { batchSize: 100, mostBytes: 2 * size, whenFull }
    const { recorder, lost, decided } = open(() => (isAway ? away : undefined), options)
    const taken = [0, 1, 2].map((n) => recorder.record(one(n)))
    expect([taken[2], lost.map(({ interactions }) => interactions.map(({ user_id }) => user_id))]).toEqual(told)
    expect(lost[0]?.error.message).toMatch('holds as much as it may')
    isAway = false
    await inFakeTime(recorder.close())
    expect(decided()).toEqual(kept)
  })

  it('ends in time, and tells what was lost', async () => {
    const { recorder, lost } = open(() => away)
    recorder.record(one(0))
    const before = Date.now()
    expect(await inFakeTime(recorder.close({ withinMs: 5_000 }))).toMatchObject({ lost: 1, held: 0 })
    expect(Date.now() - before).toBeLessThanOrEqual(5_000)
    expect(lost.map(({ interactions }) => interactions)).toEqual([[one(0)]])
    expect(() => recorder.record(one(1))).toThrow('the recorder is closed')
  })
})

it('gives up at once on what the service will never take', async () => {
  const { fake, recorder, lost } = open(() => ({ kind: 'refuse', status: 401 }))
  recorder.record(one(0))
  expect(await inFakeTime(recorder.flush())).toMatchObject({ lost: 1, held: 0 })
  expect([fake.attempts.length, lost[0]?.error.kind]).toEqual([1, 'key'])
})

it('sends in halves, each with a key of its own, where smaller bodies are taken', async () => {
  const { fake, recorder, decided } = open(sequence([{ kind: 'refuse', status: 413 }]))
  for (let n = 0; n < 5; n++) recorder.record(one(n))
  expect(await inFakeTime(recorder.close())).toMatchObject({ accepted: 5 })
  expect([decided(), new Set(keysOf(fake)).size]).toEqual([users(5), 3])
})

describe('in a page', () => {
  const openPage = () => {
    const document = Object.assign(new EventTarget(), { visibilityState: 'visible' })
    const window = new EventTarget()
    vi.stubGlobal('document', document)
    vi.stubGlobal('addEventListener', window.addEventListener.bind(window))
    vi.stubGlobal('removeEventListener', window.removeEventListener.bind(window))
    return {
      hide: () => {
        document.visibilityState = 'hidden'
        document.dispatchEvent(new Event('visibilitychange'))
      },
      leave: () => window.dispatchEvent(new Event('pagehide')),
    }
  }

  it('sends what is left in requests that outlive it, as much as a browser allows, and nothing twice', async () => {
    const page = openPage()
    const inits: RequestInit[] = []
    const fake = createFakeWeir({ idField: 'user_id', next: () => undefined })
    const fetch: typeof globalThis.fetch = (input, init = {}) => {
      inits.push(init)
      return fake.fetch(input, init)
    }
    const recorder = createWeir({ url: 'http://weir.test', key: 'k', fetch }).recorder({ batchSize: 5000 })
    const long = 'x'.repeat(1_000)
    for (let n = 0; n < 100; n++) recorder.record({ ...one(n), city: long })
    page.hide()
    page.leave()
    const outliving = inits.filter(({ keepalive }) => keepalive)
    expect(outliving.length).toBeGreaterThan(0)
    const bytes = outliving.reduce((sum, { body }) => sum + String(body).length, 0)
    expect(bytes).toBeGreaterThan(40_000)
    expect(bytes).toBeLessThan(64 * 1024)
    // It comes back after all.
    await inFakeTime(recorder.flush())
    expect(recorder.counts()).toMatchObject({ accepted: 100, lost: 0, held: 0 })
    expect(fake.decided.map(({ user_id }) => user_id).sort()).toEqual(users(100).sort())
    await recorder.close()
    page.hide()
    expect(inits.length).toBe(fake.attempts.length)
  })
})
