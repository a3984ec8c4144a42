import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
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

it('serves an organisation as ever while another sends 150 large uploads at once', async () => {
  const noisy = createUploader(edge.url, (await newOrganisation('noisy')).key)
  const quiet = createUploader(edge.url, (await newOrganisation('quiet')).key)
  expect((await quiet.upload('shops', [sampleOf(shop)])).status).toBe(200)

  // The same body each time: making one takes longer than sending it.
  const body = JSON.stringify({ records: Array.from({ length: 5000 }, () => sampleOf(tag)) })
  const statuses: Record<number, number> = {}
  let isOver = false
  const flood = Array.from({ length: 150 }, async () => {
    while (!isOver) {
      const { status } = await noisy.send('POST', '/v1/data/tags', body)
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status !== 200) await delay(1000)
    }
  })
  await delay(2000)
  const answers: { status: number; ms: number }[] = []
  for (let n = 0; n < 15; n++) {
    const began = performance.now()
    const { status } = await quiet.upload('shops', [sampleOf(shop)])
    answers.push({ status, ms: Math.round(performance.now() - began) })
    await delay(1000)
  }
  isOver = true
  await Promise.all(flood)

  expect(answers.filter(({ status }) => status !== 200)).toEqual([])
  const slowest = Math.max(...answers.map(({ ms }) => ms))
  const seen = `${JSON.stringify(statuses)} ${Math.round(peakMemory() / mib)} MiB; ${answers.map(({ ms }) => ms)}`
  expect(slowest, seen).toBeLessThan(2000)
  expect(peakMemory(), seen).toBeLessThan(400 * mib)
  // The other gets through as well, as fast as it can be served.
  expect(Object.keys(statuses).filter((status) => !['200', '429', '503'].includes(status))).toEqual([])
  expect(statuses[200], seen).toBeGreaterThan(10)
})

it('serves everybody while small requests unpack to large ones', async () => {
  const { key } = await newOrganisation('packed')
  const attacker = createUploader(edge.url, key)
  const lag = async (): Promise<number> => {
    // One page of figures is shared for a second.
    await delay(1100)
    const text = await (await fetch(`${edge.url}/metrics`)).text()
    return Number(/^weir_edge_nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1])
  }
  const bodies = [
    `${'\n'.repeat(16 * mib - 1)}x`,
    `{"records": [{"name": "${'\\n'.repeat(8 * mib - 100)}"}]}`,
    `{"records": [{"name": "${'x'.repeat(16 * mib - 100)}"}]}`,
  ].map((text) => gzipSync(text))
  const send = (body: Buffer) => attacker.send('POST', '/v1/data/tags', body, { 'content-encoding': 'gzip' })
  for (const body of bodies) {
    // The longest delay since it was last asked for. Other processes may delay the loop too, so the least of some tries counts.
    const delays: number[] = []
    while (delays.length < 5 && Math.min(...delays, 1) >= 0.1) {
      await lag()
      expect((await send(body)).status).toBe(400)
      delays.push(await lag())
    }
    expect(Math.min(...delays)).toBeLessThan(0.1)
  }
})
