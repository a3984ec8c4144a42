import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { newOrganisation } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// An edge of its own, with the default bounds.
const edge = await startEdge({})
afterAll(edge.stop)

const mib = 1024 * 1024

/** The most memory that the edge ever had. */
const peakMemory = (): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${edge.pid}/status`, 'utf8'))?.[1]) * 1024

it('serves an organisation as ever while another sends 150 large uploads at once', { timeout: 300_000 }, async () => {
  const noisy = createUploader(edge.url, (await newOrganisation('noisy')).key)
  const quiet = createUploader(edge.url, (await newOrganisation('quiet')).key)
  /** Sends something small, and tells how many milliseconds that took. */
  const sendSmall = async (): Promise<number> => {
    const began = performance.now()
    expect((await quiet.upload('shops', [sampleOf(shop)])).status).toBe(200)
    return Math.round(performance.now() - began)
  }
  const before = [await sendSmall(), await sendSmall(), await sendSmall()]

  // The same body each time: making one takes longer than sending it.
  const records = Array.from({ length: 5000 }, (_, n) => ({ tag_id: randomUUID(), name: `tag ${n}` }))
  const body = JSON.stringify({ records })
  const statuses: Record<number, number> = {}
  let isOver = false
  const begun = performance.now()
  const flood = Array.from({ length: 150 }, async () => {
    while (!isOver) {
      const { status } = await noisy.send('POST', '/v1/data/tags', body)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status !== 200) await delay(1000)
    }
  })
  const during: number[] = []
  for (let n = 0; n < 15; n++) {
    await delay(1000)
    during.push(await sendSmall())
  }
  isOver = true
  await Promise.all(flood)

  const decided = (statuses[200] ?? 0) * records.length
  // What the 150 have sent at once would take this long, as fast as it goes on this machine at the moment.
  const wholeFlood = Math.round(((performance.now() - begun) * flood.length * records.length) / decided)
  const sorted = during.toSorted((a, b) => a - b)
  const seen = `${JSON.stringify(statuses)}, ${Math.round(peakMemory() / mib)} MiB, ms before ${before}, during ${during}, flood ${wholeFlood}`
  expect(peakMemory(), seen).toBeLessThan(400 * mib)
  // Whoever had to wait for the flood would wait as long as all of it takes, or be turned away.
  expect(sorted[Math.floor(sorted.length / 2)], seen).toBeLessThan(wholeFlood / 20)
  expect(sorted.at(-1), seen).toBeLessThan(wholeFlood / 5)
  // The other gets through as well, as fast as it can be served.
  expect(Object.keys(statuses).filter((status) => !['200', '429', '503'].includes(status))).toEqual([])
  expect(statuses[200], seen).toBeGreaterThan(10)
})
