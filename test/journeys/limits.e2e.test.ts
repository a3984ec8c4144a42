import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { newOrganisation, operate } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

const mib = 1024 * 1024
// Measured: 190 to 300 MiB at its largest; without bounds the bodies alone would be 1600 MiB.
const mostMemory = 512 * mib

// A second edge, so that small bounds trouble nobody else.
const edge = await startEdge({ MAX_BYTES_IN_FLIGHT: String(32 * mib), MAX_BATCHES_IN_FLIGHT: '100' })
const edgeUrl = edge.url
afterAll(edge.stop)

/** The most memory that the edge ever had. */
const peakMemory = (): number => {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${edge.pid}/status`, 'utf8'))?.[1]
  return Number(kib) * 1024
}

const figure = async (pattern: RegExp): Promise<number> =>
  Number(pattern.exec(await (await fetch(`${edgeUrl}/metrics`)).text())?.[1] ?? 0)

const begin = (key: string, length: number): ClientRequest =>
  request(`${edgeUrl}/v1/data/shops`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': length },
  })

/** Its status; or that the connection was closed on a body that nobody wanted. */
const statusOf = async (client: ClientRequest): Promise<number | 'closed'> => {
  try {
    const [answer] = (await once(client, 'response')) as [IncomingMessage]
    client.on('error', () => {})
    answer.resume()
    return answer.statusCode ?? 0
  } catch {
    return 'closed'
  }
}

/** 4000 records in 8 MiB. */
const largeBody = (): Buffer => {
  const records = Array.from({ length: 4000 }, () => sampleOf(shop, { name: 'x'.repeat(1600) }))
  return Buffer.from(JSON.stringify({ records }).padEnd(8 * mib))
}

it('keeps its memory bounded with 200 slow or large clients, and serves normally afterwards', async () => {
  const body = largeBody()
  const organisations = await Promise.all(['large-a', 'large-b', 'large-c', 'large-d'].map((n) => newOrganisation(n)))
  const keyOf = (n: number) => organisations[n % organisations.length]?.key ?? ''

  const slow = Array.from({ length: 60 }, (_, n) => {
    const client = begin(keyOf(n), body.length)
    client.write(body.subarray(0, 256 * 1024))
    return { client, status: statusOf(client) }
  })
  const large = Array.from({ length: 140 }, async (_, n) => {
    await delay(n * 20)
    const client = begin(keyOf(n), body.length)
    client.end(body)
    return statusOf(client)
  })
  // The slow ones drip on for a while; then half of them go away, and half of them finish.
  for (let i = 0; i < 30; i++) {
    await delay(100)
    for (const { client } of slow) client.write(body.subarray(256 * 1024 + i, 256 * 1024 + i + 1))
  }
  slow.forEach(({ client }, n) => {
    if (n % 2 === 0) client.destroy()
    else client.end(body.subarray(256 * 1024 + 30))
  })

  const statuses = await Promise.all([...slow.map(({ status }) => status), ...large])
  expect(statuses.filter((status) => ![200, 207, 400, 429, 503, 'closed'].includes(status))).toEqual([])
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(50)
  expect(await figure(/^weir_edge_shed_total{reason="(?:org_)?bytes"} (\d+)/m)).toBeGreaterThan(0)
  expect(peakMemory()).toBeLessThan(mostMemory)

  await eventually(async () => expect(await figure(/^weir_edge_bytes_in_flight (\d+)/m)).toBe(0))
  const { status } = await createUploader(edgeUrl, keyOf(0)).upload('shops', [sampleOf(shop)])
  expect(status).toBe(200)
})

it('refuses bombs and stacked encodings, many at once, in bounded memory', async () => {
  const { key } = await newOrganisation('bombs')
  const bomb = gzipSync(Buffer.alloc(200 * mib))
  expect(bomb.length).toBeLessThan(210_000)
  const { send } = createUploader(edgeUrl, key)
  const post = async (encoding: string, payload: Buffer) =>
    (await send('POST', '/v1/data/shops', payload, { 'content-encoding': encoding })).status

  expect(await post('gzip', bomb)).toBe(413)
  expect(await post('gzip, gzip', gzipSync(bomb))).toBe(415)
  expect(await post('gzip', gzipSync(bomb))).toBe(400)
  const many = await Promise.all(Array.from({ length: 50 }, () => post('gzip', bomb)))
  expect(many.filter((status) => status !== 413 && status !== 503)).toEqual([])
  expect(peakMemory()).toBeLessThan(mostMemory)
})

it("limits an organisation's keys as the operator says, at once and until told otherwise", async () => {
  const { name, key } = await newOrganisation('limited')
  const { upload } = createUploader(edgeUrl, key)
  expect((await upload('shops', [sampleOf(shop)])).status).toBe(200)

  await operate(['orgs', 'limits', name, '--requests', '1', '--records', '10'])
  const refused = await eventually(async () => {
    const answer = await upload('shops', [sampleOf(shop)])
    expect(answer.status).toBe(429)
    return answer
  })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect(refused.headers.get('ratelimit-limit')).toBe('5')
  expect(refused.body).toMatchObject({
    error: 'Too Many Requests',
    message: expect.stringContaining('1 requests a second'),
  })

  await operate(['orgs', 'limits', name, '--requests', 'default', '--records', 'default'])
  await eventually(async () => {
    const answer = await upload('shops', [sampleOf(shop)])
    expect([answer.status, answer.headers.get('ratelimit-limit')]).toEqual([200, '10000'])
  })
})
