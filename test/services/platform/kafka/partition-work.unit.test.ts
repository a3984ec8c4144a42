import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createPartitionWork } from '#platform/kafka/partition-work.js'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const shops = { topic: 'shops', partition: 1 }
const tags = { topic: 'tags', partition: 0 }

/** Work on partitions, what happened to them, and jobs that end when they are told to. */
const open = (mostBytesAside = 100, smallBelow?: number) => {
  const happened: string[] = []
  const work = createPartitionWork({
    pause: ({ topic }) => happened.push(`pause ${topic}`),
    resume: ({ topic }) => happened.push(`resume ${topic}`),
    mostBytesAside,
    smallBelow,
    log: pino({ level: 'silent' }),
  })
  return { work, happened }
}
const job = () => {
  let end = () => {}
  let fail = (_: Error) => {}
  const running = new Promise<void>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  return { do: () => running, end, fail }
}
/** Whether it has resolved by now. */
const isOver = async (promise: Promise<unknown>): Promise<boolean> => {
  let over = false
  void promise.then(() => (over = true))
  await vi.advanceTimersByTimeAsync(0)
  return over
}
const failing = async () => {
  throw new Error('the table is gone')
}

it('waits for work that is soon done, and pauses nobody', async () => {
  const { work, happened } = open()
  const soon = job()
  const taken = work.take(shops, 10, soon.do)
  await vi.advanceTimersByTimeAsync(400)
  expect(await isOver(taken)).toBe(false)
  soon.end()
  expect(await isOver(taken)).toBe(true)
  expect(happened).toEqual([])
})

it('pauses a partition whose work failed, for longer each time, up to 5 s, and does not reject', async () => {
  const { work, happened } = open()
  for (const pause of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    await work.take(shops, 10, failing)
    expect(happened.splice(0)).toEqual(['pause shops'])
    await vi.advanceTimersByTimeAsync(pause - 1)
    expect(happened).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(happened.splice(0)).toEqual(['resume shops'])
  }
  const good = work.take(shops, 10, async () => {})
  await vi.advanceTimersByTimeAsync(0)
  await good
  await work.take(shops, 10, failing)
  happened.splice(0)
  await vi.advanceTimersByTimeAsync(250)
  expect(happened).toEqual(['resume shops'])
})

it('lets slow work go on aside, with its partition paused until it is done', async () => {
  const { work, happened } = open()
  const slow = job()
  const taken = work.take(shops, 10, slow.do)
  await vi.advanceTimersByTimeAsync(500)
  expect(await isOver(taken)).toBe(true)
  expect([happened, work.hasAside()]).toEqual([['pause shops'], true])
  slow.end()
  await vi.advanceTimersByTimeAsync(0)
  expect([happened, work.hasAside()]).toEqual([['pause shops', 'resume shops'], false])
})

it('waits less for large work while small work comes of other partitions', async () => {
  const { work, happened } = open(100, 20)
  const isAsideAfter = async (ms: number, bytes: number): Promise<boolean> => {
    const large = job()
    void work.take(shops, bytes, large.do)
    await vi.advanceTimersByTimeAsync(ms)
    large.end()
    await vi.advanceTimersByTimeAsync(0)
    return happened.splice(0).length > 0
  }
  const small = () => work.take(tags, 10, async () => {})
  await work.take(shops, 10, async () => {})
  expect(await isAsideAfter(499, 30)).toBe(false)
  await small()
  expect(await isAsideAfter(30, 30)).toBe(true)
  expect(await isAsideAfter(499, 10)).toBe(false)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await isAsideAfter(499, 30)).toBe(false)
})

it('waits for large work as for any other while four are aside', async () => {
  const { work, happened } = open(1000, 20)
  await work.take(tags, 10, async () => {})
  const large = Array.from({ length: 4 }, job)
  for (const [partition, { do: run }] of large.entries())
    void work.take({ topic: `shops-${partition}`, partition }, 30, run)
  await vi.advanceTimersByTimeAsync(30)
  expect(happened).toHaveLength(4)
  void work.take({ topic: 'one more', partition: 0 }, 30, job().do)
  await vi.advanceTimersByTimeAsync(499)
  expect(happened).toHaveLength(4)
})

it('tries slow work that failed in the end again after its pause', async () => {
  const { work, happened } = open()
  const slow = job()
  void work.take(shops, 10, slow.do)
  await vi.advanceTimersByTimeAsync(500)
  slow.fail(new Error('timed out'))
  await vi.advanceTimersByTimeAsync(249)
  expect(happened).not.toContain('resume shops')
  await vi.advanceTimersByTimeAsync(1)
  expect(happened.filter((what) => what === 'resume shops')).toHaveLength(1)
})

it('does not wait at all for a partition that failed last time', async () => {
  const { work, happened } = open()
  await work.take(shops, 10, failing)
  happened.splice(0)
  const hanging = job()
  const taken = work.take(shops, 10, hanging.do)
  await vi.advanceTimersByTimeAsync(1)
  expect(await isOver(taken)).toBe(true)
  expect(happened[0]).toBe('pause shops')
})

it('lets no more go aside than there is room for, until some of it has ended', async () => {
  const { work } = open(100)
  const [first, second] = [job(), job()]
  void work.take(shops, 60, first.do)
  await vi.advanceTimersByTimeAsync(500)
  const taken = work.take(tags, 60, second.do)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await isOver(taken)).toBe(false)
  first.end()
  expect(await isOver(taken)).toBe(true)
})

it('has ended when the last work aside has', async () => {
  const { work } = open()
  const slow = job()
  void work.take(shops, 10, slow.do)
  await vi.advanceTimersByTimeAsync(500)
  const ended = work.ended()
  expect(await isOver(ended)).toBe(false)
  slow.end()
  expect(await isOver(ended)).toBe(true)
})

it('neither pauses nor resumes anything for work that fails after the stop', async () => {
  const { work, happened } = open()
  const slow = job()
  const taken = work.take(shops, 10, slow.do)
  work.stop()
  slow.fail(new Error('given up'))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await isOver(taken)).toBe(true)
  expect(happened).toEqual([])
})
