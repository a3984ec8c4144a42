import { request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { readConfig } from '#platform/process/config.js'
import { uploads } from '#schemas/catalogue.js'
import { shop } from '#schemas/records/shop.js'
import { configSchema } from '../../../../services/edge/config.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { createRateLimits } from '../../../../services/edge/limits/rates.js'
import { readNetwork } from '../../../../services/edge/network/network.js'
import { eventually } from '../../../support/eventually.js'
import { csvOf, ndjsonOf } from '../../../support/lined.js'
import { sampleOf } from '../../../support/sample.js'
import { acme, createEdge } from '../edge.js'
import { createFakeLag } from '../fakes/lag.fake.js'
import { verdictOn } from '../fakes/submit.fake.js'

const ndjson = { 'content-type': 'application/x-ndjson' }
const csv = { 'content-type': 'text/csv' }
const keyed = { ...ndjson, 'idempotency-key': 'one' }
const shops = (count: number) => Array.from({ length: count }, () => sampleOf(shop))
const linesOf = (body: unknown) =>
  String(body)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** An edge on a port of its own: an import needs a connection. */
const createServed = async (over: Parameters<typeof createEdge>[0] = {}) => {
  const edge = createEdge(over)
  await edge.app.listen({ host: '127.0.0.1', port: 0 })
  closing.push(() => edge.app.close())
  const { port } = edge.app.server.address() as AddressInfo
  const send = async (method: string, path: string, body?: string | Buffer, headers: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: 'Bearer acme-key', ...headers },
      ...(body !== undefined && { body: body as BodyInit }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: isJson ? JSON.parse(text) : text,
    }
  }
  return { ...edge, port, send }
}

describe('an import', () => {
  it('of any type submits what an upload does, in either format', async () => {
    const { send, submit } = await createServed()
    for (const type of uploads) {
      const records = [sampleOf(type), sampleOf(type, {}, { onlyRequired: true })]
      await send('POST', `/v1/data/${type.type}`, JSON.stringify({ records }), { 'content-type': 'application/json' })
      for (const [body, headers] of [
        [ndjsonOf(records), ndjson],
        [csvOf(type, records), csv],
        [gzipSync(ndjsonOf(records)), { ...ndjson, 'content-encoding': 'gzip' }],
      ] as const) {
        const { status, body: answer, headers: told } = await send('POST', `/v1/imports/${type.type}`, body, headers)
        expect(status).toBe(200)
        expect(told['content-type']).toBe('application/x-ndjson; charset=utf-8')
        const counts = { records: 2, accepted: 2, refused: 0, waiting: 0, batches: 1, complete: true }
        const message = '2 of 2 records accepted'
        expect(linesOf(answer).at(-1)).toEqual({
          summary: { request_id: told['x-request-id'], type: type.type, ...counts, message },
        })
      }
      const [json, ...others] = submit.submitted.splice(0).map(({ batch }) => batch.records)
      expect(others).toHaveLength(3)
      for (const other of others) expect(other).toEqual(json)
    }
  })

  it('tells each batch in order, with lines and places counted over the whole body', async () => {
    const { send, submit } = await createServed()
    const records: unknown[] = shops(12_000)
    records[11_700] = { ...sampleOf(shop), region: 'GBR' }
    const body = `\n${ndjsonOf(records)}nonsense\n`
    const { body: answer } = await send('POST', '/v1/imports/shops', body, ndjson)
    const lines = linesOf(answer)
    expect(lines.slice(0, -1).map(({ batch }) => batch)).toEqual(Array.from({ length: 25 }, (_, n) => n + 1))
    expect(lines.slice(0, 2)).toMatchObject([
      { status: 200, from_line: 2, to_line: 501, accepted: 500, refused: [] },
      { status: 200, from_line: 502, to_line: 1001, batch_id: submit.submitted[1]?.batch.batch_id },
    ])
    expect(lines[23]).toMatchObject({
      status: 207,
      from_line: 11_502,
      to_line: 12_001,
      accepted: 499,
      refused: [{ index: 11_700, line: 11_702, problems: [{ code: 'bad_format' }] }],
    })
    expect(lines[24]).toMatchObject({
      status: 400,
      refused: [{ index: 12_000, line: 12_002, id: null, problems: [{ code: 'unreadable' }] }],
    })
    expect(lines.at(-1).summary).toMatchObject({ records: 12_001, accepted: 11_999, refused: 2, complete: true })
    const requests = new Set(submit.submitted.map(({ batch }) => batch.request_id))
    expect(requests.size).toBe(3)
  })

  it('may be tried out', async () => {
    const { send, submit } = await createServed()
    const answer = await send('POST', '/v1/imports/shops?dry_run=true', ndjsonOf(shops(6000)), keyed)
    expect(answer.headers['weir-dry-run']).toBe('true')
    expect(linesOf(answer.body).at(-1).summary).toMatchObject({ accepted: 6000, complete: true })
    expect(submit.submitted).toEqual([])
  })

  it('goes on where it stopped when it is sent again with its key', async () => {
    const edge = await createServed()
    const body = ndjsonOf(shops(12_000))
    let taken = 0
    edge.submit.outcome = (batch) =>
      taken++ < 13 ? { verdict: verdictOn('shops', batch) } : { unknown: 'not published' }
    const first = linesOf((await edge.send('POST', '/v1/imports/shops', body, keyed)).body)
    expect(first.at(-1).summary).toMatchObject({
      accepted: 6500,
      complete: false,
      message:
        'the outcome of some batches is not known; send the same body again with the same Idempotency-Key: what is decided is not decided again',
    })
    // Nothing of the third chunk was tried: it could have overtaken the second.
    expect(edge.submit.submitted).toHaveLength(20)

    edge.store.verdicts.push(...edge.submit.submitted.slice(0, 13).map(({ batch }) => verdictOn('shops', batch)))
    edge.submit.outcome = undefined
    edge.submit.submitted.length = 0
    const second = linesOf((await edge.send('POST', '/v1/imports/shops', body, keyed)).body)
    expect(second.at(-1).summary).toMatchObject({ records: 12_000, accepted: 12_000, batches: 24, complete: true })
    expect(second.slice(0, 13)).toEqual(first.slice(0, 13))
    expect(edge.submit.submitted).toHaveLength(11)
  })

  it('with another body under its key is told so in its last line', async () => {
    const edge = await createServed()
    const records = shops(6000)
    await edge.send('POST', '/v1/imports/shops', ndjsonOf(records), keyed)
    edge.store.verdicts.push(...edge.submit.submitted.map(({ batch }) => verdictOn('shops', batch)))
    const other = await edge.send('POST', '/v1/imports/shops', ndjsonOf([...records, ...shops(1)]), keyed)
    expect(linesOf(other.body).at(-1).summary).toMatchObject({
      accepted: 5000,
      complete: false,
      message: 'from line 5001 on, this Idempotency-Key was used with another body; use a new key',
    })
  })

  it('that is no import at all is refused as a whole', async () => {
    const { send, submit } = await createServed()
    for (const [status, message, body, headers, query = ''] of [
      [400, 'names no field of shops', 'a,b\n', csv],
      [400, 'names no field of shops', `a,b\n${'1,2\n'.repeat(3_000_000)}`, csv],
      [
        400,
        'names no field of shops',
        gzipSync(`a,b\n${'1,2\n'.repeat(3_000_000)}`),
        { ...csv, 'content-encoding': 'gzip' },
      ],
      [400, 'the header of the CSV has no end', 'x'.repeat(5_000_000), csv],
      [400, 'the body is empty', '', ndjson],
      [400, 'the CSV has no header', '\n', csv],
      [400, 'there is no query parameter', '{}', ndjson, '?dryrun=true'],
      [400, 'not valid gzip', 'x', { ...ndjson, 'content-encoding': 'gzip' }],
      [415, 'send the body as NDJSON or CSV', '{}', { 'content-type': 'application/json' }],
      [415, 'the only Content-Encoding', '{}', { ...ndjson, 'content-encoding': 'br' }],
      [401, 'key', '{}', { ...ndjson, authorization: 'Bearer nobody' }],
    ] as const) {
      const answer = await send('POST', `/v1/imports/shops${query}`, body, headers)
      expect(answer, message).toMatchObject({ status, body: { message: expect.stringContaining(message) } })
    }
    expect(
      (await send('POST', '/v1/imports/offers', '{}', { ...ndjson, authorization: 'Bearer shops-key' })).status,
    ).toBe(403)
    expect((await send('GET', '/v1/imports/shops')).status).toBe(405)
    expect((await send('POST', '/v1/imports/shop', '{}', ndjson)).body.message).toContain('did you mean shops?')
    expect(submit.submitted).toEqual([])
  })

  it('whose gzip lacks its end keeps what was decided before', async () => {
    const { send } = await createServed()
    const whole = gzipSync(ndjsonOf(shops(9000)))
    const headers = { ...ndjson, 'content-encoding': 'gzip' }
    const answer = await send('POST', '/v1/imports/shops', whole.subarray(0, whole.length - 100), headers)
    expect(linesOf(answer.body).at(-1).summary).toMatchObject({
      accepted: 5000,
      complete: false,
      message: expect.stringMatching(
        /its end is missing; what is decided is kept: send the rest, after the record on line 5000$/,
      ),
    })
  })

  it('takes nothing in while its type lags behind', async () => {
    const { send } = await createServed({ lag: createFakeLag({ isLagging: () => true }) })
    expect((await send('POST', '/v1/imports/shops', '{}', ndjson)).status).toBe(503)
  })
})

describe('on a connection', () => {
  const listen = async (over: Parameters<typeof createEdge>[0] = {}) => {
    const edge = await createServed(over)
    const { port } = edge
    /** An import whose body the test writes bit by bit; `text` is what was answered so far. */
    const begin = (headers: Record<string, string> = ndjson) => {
      const request = httpRequest({
        port,
        method: 'POST',
        path: '/v1/imports/shops',
        headers: { authorization: 'Bearer acme-key', ...headers },
      })
      const answer = { text: '', isOver: false, isReading: true }
      request.on('error', () => {
        answer.isOver = true
      })
      request.on('response', (response) => {
        response.on('data', (chunk: Buffer) => {
          answer.text += chunk
        })
        response.on('error', () => {})
        response.on('close', () => {
          answer.isOver = true
        })
      })
      return { request, answer }
    }
    return { ...edge, begin }
  }

  it('is answered while its body still comes', async () => {
    const { begin } = await listen()
    const { request, answer } = begin()
    request.write(ndjsonOf(shops(5500)))
    await eventually(() => expect(linesOf(answer.text)).toHaveLength(10))
    request.end(ndjsonOf(shops(100)))
    await eventually(() => expect(answer.isOver).toBe(true))
    expect(linesOf(answer.text).at(-1).summary).toMatchObject({ accepted: 5600, complete: true })
  })

  it('is answered once: nothing is said of a second answer', async () => {
    const said: string[] = []
    const { begin } = await listen({ log: pino({ level: 'warn' }, { write: (line: string) => void said.push(line) }) })
    const { request, answer } = begin()
    request.end(ndjsonOf(shops(2)))
    await eventually(() => expect(answer.isOver).toBe(true))
    await sleep(50)
    expect(said).toEqual([])
  })

  it('that is cut off keeps whole chunks, and leaves the rest to the next attempt', async () => {
    const { begin, submit } = await listen()
    const { request, answer } = begin(keyed)
    request.write(ndjsonOf(shops(5500)))
    await eventually(() => expect(linesOf(answer.text)).toHaveLength(10))
    request.destroy()
    await sleep(50)
    expect(submit.submitted).toHaveLength(10)
  })

  it('is given up on where the body stops coming', async () => {
    const network = { ...readNetwork(readConfig(configSchema, {})), requestTimeout: 300 }
    const { begin } = await listen({ network })
    const { request, answer } = begin()
    request.write(ndjsonOf(shops(5500)))
    await eventually(() => expect(answer.isOver).toBe(true))
    expect(linesOf(answer.text).at(-1).summary).toMatchObject({
      accepted: 5000,
      complete: false,
      message: expect.stringContaining('the body stopped coming'),
    })
  })

  it('is turned away where its organisation has enough under way, until one of those ends', async () => {
    const { begin, send } = await listen({ importBounds: { atOnce: 4, bytesPerSecond: 1 } })
    const { request } = begin()
    request.write(ndjsonOf(shops(1)))
    const tryOne = () => send('POST', '/v1/imports/shops', ndjsonOf(shops(1)), ndjson)
    await eventually(async () => expect((await tryOne()).status).toBe(429))
    expect((await tryOne()).headers['retry-after']).toBe('5')
    request.destroy()
    await eventually(async () => expect((await tryOne()).status).toBe(200))
  })

  it('gives its place back where its client has left before it began', async () => {
    const gate = { open: () => {} }
    const shut = new Promise<void>((resolve) => {
      gate.open = resolve
    })
    let asked = 0
    const { begin, send } = await listen({
      importBounds: { atOnce: 4, bytesPerSecond: 1 },
      findCaller: async (key) => {
        if (asked++ < 3) await shut
        return key === 'acme-key' ? acme : undefined
      },
    })
    const left = Array.from({ length: 3 }, () => begin())
    for (const { request } of left) request.write(ndjsonOf(shops(1)))
    await eventually(() => expect(asked).toBe(3))
    for (const { request } of left) request.destroy()
    await sleep(100)
    gate.open()
    await sleep(100)
    expect((await send('POST', '/v1/imports/shops', ndjsonOf(shops(1)), ndjson)).status).toBe(200)
  })

  it('reads no more of a body whose answer is not read', async () => {
    const { port, submit } = await createServed()
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      'POST /v1/imports/shops HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer acme-key\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n',
    )
    // Each line is refused, and its refusal is longer than the line: the answer is what there is too much of.
    const body = '{"a":1}\n'.repeat(20_000)
    const piece = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`
    let sent = 0
    while (socket.writableLength < 8 * piece.length && sent < 200) {
      socket.write(piece)
      sent++
      await sleep(5)
    }
    const seen = () => submit.submitted.length
    await eventually(async () => {
      const before = seen()
      await sleep(300)
      expect(seen()).toBe(before)
    })
    expect(sent).toBeLessThan(200)
    const stopped = seen()
    expect(stopped).toBeGreaterThan(0)
    socket.resume()
    await eventually(() => expect(seen()).toBeGreaterThan(stopped))
    socket.destroy()
  })

  it('waits where its key has sent enough, instead of being turned away', async () => {
    const rateLimits = createRateLimits({
      defaults: { requests: 0, records: 5000, bytes: 0 },
      figures: createFigures(createMetrics('edge')),
      now: () => Date.now() * 20,
    })
    const { send } = await createServed({ rateLimits })
    const answer = await send('POST', '/v1/imports/shops', ndjsonOf(shops(45_000)), ndjson)
    expect(linesOf(answer.body).at(-1).summary).toMatchObject({ accepted: 45_000, complete: true })
  })

  it('may take longer than any other request', async () => {
    const network = { ...readNetwork(readConfig(configSchema, {})), headersTimeout: 1000, requestTimeout: 1500 }
    const { begin } = await listen({ network })
    const { request, answer } = begin()
    // Longer than that in all, with pauses that are far shorter, however busy this machine is.
    for (let n = 0; n < 15; n++) {
      request.write(ndjsonOf(shops(300)))
      await sleep(150)
    }
    request.end()
    await eventually(() => expect(answer.isOver).toBe(true))
    expect(linesOf(answer.text).at(-1).summary).toMatchObject({ accepted: 4500, complete: true })
  })

  it('says so when the edge stops, and what was read whole is decided', async () => {
    const { begin, app } = await listen()
    const { request, answer } = begin(keyed)
    request.write(ndjsonOf(shops(5500)))
    await eventually(() => expect(linesOf(answer.text)).toHaveLength(10))
    await app.close()
    await eventually(() => expect(answer.isOver).toBe(true))
    expect(linesOf(answer.text).at(-1).summary).toMatchObject({
      accepted: 5000,
      complete: false,
      message: expect.stringMatching(/^the server is about to stop; send the same body again with the same/),
    })
  })
})
