import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { shop } from '#schemas/records/shop.js'
import type { AppDeps } from '../../../../services/edge/app.js'
import type { Submit } from '../../../../services/edge/batches/outcome.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { createLoad } from '../../../../services/edge/limits/load.js'
import { eventually } from '../../../support/eventually.js'
import { sampleOf } from '../../../support/sample.js'
import { acme, createEdge } from '../edge.js'
import { createFakeSubmit } from '../fakes/submit.fake.js'

const kib = 1024
const bounds = {
  ...{ bytes: 100 * kib, bytesOfOne: 60 * kib, importBytes: 50 * kib, importBytesOfOne: 50 * kib },
  ...{ batches: 4, records: 100, recordsOfOne: 10 },
}

const start = async (over: Partial<AppDeps> = {}) => {
  const metrics = createMetrics('edge')
  const load = createLoad(bounds, createFigures(metrics))
  const gate = { isShut: false, open: [] as (() => void)[] }
  const decideAtOnce = createFakeSubmit()
  const submit: Submit = async (type, batches) => {
    const gone = batches.map(load.count)
    if (gate.isShut) await new Promise<void>((opened) => gate.open.push(opened))
    for (const release of gone) release()
    return decideAtOnce(type, batches)
  }
  const edge = createEdge({ load, submit, bodyLimit: 50 * kib, ...over })
  const url = await edge.app.listen({ host: '127.0.0.1', port: 0 })
  const inFlight = async () => Number(/^weir_edge_bytes_in_flight (\d+)/m.exec(await metrics.text())?.[1])

  /** A request whose body the test sends when it likes. */
  const begin = (headers: Record<string, string | number>, key = 'acme-key'): ClientRequest => {
    const client = request(`${url}/v1/data/shops`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    })
    client.on('error', () => {})
    client.flushHeaders()
    return client
  }
  /** One that has sent all but the last byte. */
  const almost = (length: number, key?: string): ClientRequest => {
    const client = begin({ 'content-length': length }, key)
    client.write(' '.repeat(length - 1))
    return client
  }
  return { ...edge, url, begin, almost, gate, inFlight, shedBy: metrics.text }
}

const answerTo = async (
  client: ClientRequest,
): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: { message: string } }> => {
  const [answer] = (await once(client, 'response')) as [IncomingMessage]
  let text = ''
  for await (const piece of answer) text += piece
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(text) }
}
const body = Buffer.from(JSON.stringify({ records: [sampleOf(shop)] }))

let edge: Awaited<ReturnType<typeof start>>
beforeEach(async () => {
  edge = await start()
})
afterEach(async () => {
  edge.app.server.closeAllConnections()
  await edge.app.close()
})

it('answers what there is no room for before its body has come, and takes it in later', async () => {
  const slow = [edge.almost(50 * kib), edge.almost(40 * kib, 'other-key')]
  await eventually(async () => expect(await edge.inFlight()).toBe(90 * kib - 2))
  const refused = edge.begin({ 'content-length': 20 * kib }, 'other-key')
  const { status, headers, body: told } = await answerTo(refused)
  expect([status, headers['retry-after'], told.message]).toEqual([503, '5', expect.stringContaining('too much to do')])
  refused.destroy()
  expect((await fetch(`${edge.url}/healthz`)).status).toBe(200)
  expect((await fetch(`${edge.url}/metrics`)).status).toBe(200)

  for (const client of slow) client.destroy()
  await eventually(async () => expect(await edge.inFlight()).toBe(0))
  expect((await edge.send('POST', '/v1/data/shops', body)).status).toBe(200)
  await eventually(async () => expect(await edge.inFlight()).toBe(0))
})

it('keeps room for others when one organisation sends much', async () => {
  const slow = edge.almost(50 * kib)
  await eventually(async () => expect(await edge.inFlight()).toBe(50 * kib - 1))
  expect((await answerTo(edge.begin({ 'content-length': 20 * kib }))).status).toBe(503)
  const other = edge.begin({ 'content-length': body.length }, 'other-key').end(body)
  expect((await answerTo(other)).status).toBe(200)
  slow.destroy()
})

it('weighs a body of no declared size as it comes', async () => {
  const slow = edge.almost(40 * kib)
  const chunked = edge.begin({ 'transfer-encoding': 'chunked' })
  chunked.write(' '.repeat(15 * kib))
  await eventually(async () => expect(await edge.inFlight()).toBe(55 * kib - 1))
  chunked.write(' '.repeat(10 * kib))
  const answer = answerTo(chunked)
  expect((await answer).status).toBe(503)
  chunked.end()
  await eventually(async () => expect(await edge.inFlight()).toBe(40 * kib - 1))
  slow.destroy()
  await eventually(async () => expect(await edge.inFlight()).toBe(0))
  const taken = edge.begin({ 'transfer-encoding': 'chunked' }).end(body)
  expect((await answerTo(taken)).status).toBe(200)
})

it('is not filled by those who declare much and send little', async () => {
  const slow = Array.from({ length: 20 }, () => edge.begin({ 'content-length': 50 * kib }))
  for (const client of slow) client.write(' ')
  await eventually(async () => expect(await edge.inFlight()).toBe(20))
  const padded = Buffer.concat([body, Buffer.alloc(50 * kib - body.length, ' ')])
  const large = edge.begin({ 'content-length': padded.length }).end(padded)
  expect((await answerTo(large)).status).toBe(200)
  for (const client of slow) client.destroy()
  await eventually(async () => expect(await edge.inFlight()).toBe(0))
})

it('forgets a chunked body that broke off', async () => {
  const chunked = edge.begin({ 'transfer-encoding': 'chunked' })
  chunked.write(' '.repeat(15 * kib))
  await eventually(async () => expect(await edge.inFlight()).toBe(15 * kib))
  chunked.destroy()
  await eventually(async () => expect(await edge.inFlight()).toBe(0))
})

it('weighs a gzipped body by what comes out of it', async () => {
  const large = gzipSync(JSON.stringify({ records: [], padding: ' '.repeat(45 * kib) }))
  const headers = { 'content-encoding': 'gzip', 'content-length': large.length }
  const slow = edge.almost(30 * kib)
  await eventually(async () => expect(await edge.inFlight()).toBe(30 * kib - 1))
  expect((await answerTo(edge.begin(headers).end(large))).status).toBe(503)
  expect((await answerTo(edge.begin(headers, 'other-key').end(large))).status).toBe(400)
  slow.destroy()
})

it('gives up on a bomb at the limit, and takes no stacked encodings', async () => {
  const bomb = gzipSync(Buffer.alloc(2 * 1024 * kib))
  const send = (encoding: string, payload: Buffer) =>
    edge.send('POST', '/v1/data/shops', payload, { 'content-encoding': encoding })
  expect((await send('gzip', bomb)).status).toBe(413)
  expect((await send('gzip, gzip', gzipSync(bomb))).status).toBe(415)
  expect((await send('gzip', gzipSync(bomb))).status).toBe(400)
  await eventually(async () => expect(await edge.inFlight()).toBe(0))
})

it('holds nothing for a client that is gone before its key is known', async () => {
  const asked: (() => void)[] = []
  const slow = await start({
    findCaller: () => new Promise((resolve) => asked.push(() => resolve(acme))),
  })
  const client = slow.begin({ 'content-length': body.length }).end(body)
  await eventually(() => expect(asked).toHaveLength(1))
  client.destroy()
  const connections = promisify(slow.app.server.getConnections.bind(slow.app.server))
  await eventually(async () => expect(await connections()).toBe(0))
  for (const know of asked) know()
  await new Promise(setImmediate)
  expect(await slow.inFlight()).toBe(0)
  await slow.app.close()
})

it('holds what a client left behind until its batches are decided', async () => {
  edge.gate.isShut = true
  const client = edge.begin({ 'content-length': body.length }).end(body)
  await eventually(() => expect(edge.gate.open).toHaveLength(1))
  client.destroy()
  const connections = promisify(edge.app.server.getConnections.bind(edge.app.server))
  await eventually(async () => expect(await connections()).toBe(0))
  expect(await edge.inFlight()).toBe(body.length)
  for (const open of edge.gate.open) open()
  await eventually(async () => expect(await edge.inFlight()).toBe(0))
})

it('takes nothing in while too many batches wait', async () => {
  edge.gate.isShut = true
  const waiting = Array.from({ length: 3 }, () => edge.send('POST', '/v1/data/shops', body))
  await eventually(() => expect(edge.gate.open).toHaveLength(3))
  expect((await edge.send('POST', '/v1/data/shops', body)).status).toBe(503)
  for (const open of edge.gate.open) open()
  edge.gate.isShut = false
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200])
  expect((await edge.send('POST', '/v1/data/shops', body)).status).toBe(200)
})
