import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { tag } from '#schemas/records/tag.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { computed, pidOf } from '../support/system/processes.js'
import { newOrganisation } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// More than integrity can decide, through two edges that shed it as those of an operator do.
const lag = { MAX_LAG_MS: '5000' }
const [first, second] = [await startEdge(lag), await startEdge(lag)]
afterAll(async () => {
  await first.stop()
  await second.stop()
})
const organisations = await Promise.all(['a', 'b', 'c', 'd'].map((name) => newOrganisation(`overload-${name}`)))
const edges = [first.url, second.url]
const uploaders = organisations.flatMap(({ key }) => edges.map((url) => createUploader(url, key)))
const recordsPerUpload = 1000

const bodyOf = (count: number): string =>
  JSON.stringify({ records: Array.from({ length: count }, () => sampleOf(tag, {}, { onlyRequired: true })) })
// Made beforehand: making one takes longer than deciding it.
const full = Array.from({ length: 20 }, () => bodyOf(recordsPerUpload))
const small = bodyOf(1)

const upload = async (turn: number, body = full[turn % full.length] ?? '') => {
  const uploader = uploaders[turn % uploaders.length] as (typeof uploaders)[number]
  const since = Date.now()
  const { status, headers } = await uploader.send('POST', '/v1/data/tags', body)
  return { status, retryAfter: headers.get('retry-after'), took: Date.now() - since }
}

/**
 * Lets integrity work for about a twentieth of the time only, so that a test can send it several times what it decides. What
 * counts is the time that it computes: beside other work, 50 ms on the clock may be next to none.
 */
const slowDown = (): (() => Promise<void>) => {
  let isOver = false
  const integrity = pidOf('integrity')
  const done = (async () => {
    while (!isOver) {
      process.kill(integrity, 'SIGSTOP')
      await wait(950)
      process.kill(integrity, 'SIGCONT')
      const begun = computed(integrity)
      while (!isOver && computed(integrity) < begun + 50) await wait(10)
    }
  })()
  return () => {
    isOver = true
    return done
  }
}

it('three times what integrity decides: the excess is told to come back, the rest is answered, and it heals', async () => {
  const speedUp = slowDown()
  onTestFinished(speedUp)
  // How fast integrity is varies with the machine, so the pace follows what it decided in the last seconds.
  const decided: number[] = []
  const pause = (): number => {
    const seconds = 5
    const recent = decided.filter((time) => time > Date.now() - seconds * 1_000).length
    return 1_000 / (3 * Math.max(1, recent / seconds))
  }
  const answers: ReturnType<typeof upload>[] = []
  for (const end = Date.now() + 60_000; Date.now() < end; await wait(pause())) {
    const answer = upload(answers.length)
    answers.push(answer)
    void answer.then(({ status }) => status === 200 && decided.push(Date.now()))
  }
  const all = await Promise.all(answers)
  const shed = all.filter(({ status }) => status === 503)
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 503]))
  expect(shed.every(({ retryAfter }) => retryAfter === '5')).toBe(true)
  // Who is told to come back does not wait for those who are served.
  const middleOf = (some: readonly { took: number }[]) =>
    some.map(({ took }) => took).sort((a, b) => a - b)[some.length >> 1]
  const served = all.filter(({ status }) => status === 200)
  expect(served.length).toBeGreaterThan(0)
  expect(middleOf(shed)).toBeLessThan(middleOf(served) ?? 0)

  for (const turn of uploaders.keys())
    await eventually(async () => expect((await upload(turn, small)).status).toBe(200), 30_000)
})
