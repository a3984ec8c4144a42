import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { tag } from '#schemas/records/tag.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { pidOf } from '../support/system/processes.js'
import { newOrganisation, system } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// More than integrity can decide, through two edges.
const edge = await startEdge({})
afterAll(edge.stop)
const organisations = await Promise.all(['a', 'b', 'c', 'd'].map((name) => newOrganisation(`overload-${name}`)))
const edges = [system.edgeUrl, edge.url]
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

/** Lets integrity run for a twentieth of the time only, so that a test can send it several times what it decides. */
const slowDown = (): (() => Promise<void>) => {
  let isOver = false
  const integrity = pidOf('integrity')
  const done = (async () => {
    while (!isOver) {
      process.kill(integrity, 'SIGSTOP')
      await wait(950)
      process.kill(integrity, 'SIGCONT')
      await wait(50)
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
  let decided = 0
  const measureFor = 10_000
  const measured = Date.now() + measureFor
  const client = async (turn: number) => {
    while (Date.now() < measured) {
      const { status } = await upload(turn)
      if (status === 200) decided++
    }
  }
  await Promise.all(uploaders.map((_, turn) => client(turn)))
  const pause = measureFor / decided / 3

  const answers: ReturnType<typeof upload>[] = []
  for (const end = Date.now() + 40_000; Date.now() < end; await wait(pause)) answers.push(upload(answers.length))
  const ended = Date.now()
  const all = await Promise.all(answers)
  const shed = all.filter(({ status }) => status === 503)
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 503]))
  expect(shed.every(({ retryAfter, took }) => retryAfter === '5' && took < 10_000)).toBe(true)
  expect(all.length - shed.length).toBeGreaterThan(0)

  await wait(ended + 30_000 - Date.now())
  for (const turn of uploaders.keys()) {
    const { status, took } = await upload(turn, small)
    expect(status).toBe(200)
    expect(took).toBeLessThan(5_000)
  }
}, 200_000)
