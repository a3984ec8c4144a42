import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { newOrganisation, system } from '../support/system/system.js'
import { watchTopics } from '../support/system/topics.js'
import { createUploader, type UploadAnswer } from '../support/system/uploader.js'

// Words that nobody else writes: wherever one turns up, it came from here.
const canary = `canary${randomBytes(8).toString('hex')}`
const org = await newOrganisation('canary')
const secret = org.key.split('_').at(-1) ?? ''
const mistyped = `${org.key.slice(0, -1)}${org.key.endsWith('0') ? '1' : '0'}`

// An edge that says all that it can say; its own log ends with it.
const [port = 0] = await freePorts(1)
const edgeUrl = `http://127.0.0.1:${port}`
const edge = execa(process.execPath, ['dist/services/edge/main.js'], {
  env: { ...system.env, EDGE_PORT: String(port), LOG_LEVEL: 'trace' },
  all: true,
  reject: false,
})

afterAll(() => edge.kill())

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')
const serviceLogs = () =>
  readdirSync(join(system.dataDir, 'logs')).map((name) => ({
    name,
    text: readFileSync(join(system.dataDir, 'logs', name), 'utf8'),
  }))

/** Says something to the edge that no HTTP client would. */
const sayRaw = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const { hostname, port: edgePort } = new URL(system.edgeUrl)
    const socket = connect(Number(edgePort), hostname, () => socket.end(text))
    socket
      .resume()
      .on('close', () => resolve())
      .on('error', reject)
  })

it('a key and a body stay out of logs, errors, figures and Kafka headers', async () => {
  await eventually(async () => expect((await fetch(`${edgeUrl}/readyz`)).status).toBe(200))
  const topics = await watchTopics(system.env.KAFKA_BROKERS)
  const answers: string[] = []

  for (const url of [edgeUrl, system.edgeUrl]) {
    const { send, upload, interact } = createUploader(url, org.key)
    const post = async (path: string, body: string, headers: Record<string, string> = {}) =>
      answers.push(JSON.stringify((await send('POST', path, body, headers)).body))

    // In every place that a value can be, right or wrong.
    const shopId = randomUUID()
    expect((await upload('shops', [sampleOf(shop, { shop_id: shopId, name: canary })])).status).toBe(200)
    const given = sampleOf(interaction, { item_type: 'SHOP', item_id: shopId, student_id: null, user_id: canary })
    expect((await interact(given, { 'idempotency-key': `${canary}-${shopId}` })).status).toBe(201)
    const wrong = { region: canary, created: canary, is_public: canary, is_deleted: [canary] }
    await post('/v1/data/shops', JSON.stringify({ records: [sampleOf(shop, wrong), canary, [canary]] }))
    await post('/v1/data/branches', JSON.stringify({ records: [{ shop_id: canary, latitude: canary }] }))
    await post('/user-interactions', JSON.stringify({ ...given, item_type: canary, platform: canary, item_id: canary }))
    await post('/user-interactions', JSON.stringify({ ...given, student_id: randomUUID(), city: canary }))

    // An id and the name of a field come back, so that the uploader finds them; they go nowhere else.
    await upload('shops', [{ [canary]: 1, shop_id: canary }])

    // In bodies that cannot be read.
    await post('/v1/data/shops', `{"records": [${canary}`)
    await post('/v1/data/shops', JSON.stringify({ records: [], [canary]: canary }))
    await post('/v1/data/shops', canary, { 'content-type': `text/${canary}` })
    await post('/v1/data/shops', canary, { 'content-encoding': canary })
    await post('/v1/data/shops', canary, { 'content-encoding': 'gzip' })
    await post('/v1/data/shops', '{}', { 'idempotency-key': `${canary} with a space`, 'user-agent': canary })

    // In addresses; and the key where it does not belong.
    for (const word of [canary, org.key]) {
      await post(`/v1/data/${word}`, '{}')
      for (const path of [`/${word}`, `/v1/requests/${word}`, `/user-interactions?user_id=${word}&${word}=${word}`])
        answers.push(JSON.stringify((await send('GET', path)).body))
    }
    for (const authorization of [`Bearer ${mistyped}`, `Basic ${org.key}`, org.key, `Bearer ${org.key} ${canary}`])
      await post('/v1/data/shops', '{}', { authorization })
    await post('/v1/data/shops', JSON.stringify({ records: [sampleOf(shop, { region: org.key })] }))
    answers.push(await (await fetch(`${url}/metrics`)).text())
  }

  // Before that, not all of it is on the topics, and not every service has logged what it does with it.
  await untilQuiet(system.env.KAFKA_BROKERS)
  const messages = await topics.since()
  edge.kill('SIGTERM')
  const { all: trace, exitCode } = await edge
  expect(exitCode).toBe(0)

  for (const answer of answers) expect(answer).not.toMatch(new RegExp(`${canary}|${secret}|${mistyped}`))
  for (const { name, text } of [...serviceLogs(), { name: 'the edge that says all', text: trace }]) {
    expect(text.includes(canary), `${name} holds the body`).toBe(false)
    expect(text.includes(secret) || text.includes(mistyped), `${name} holds the key`).toBe(false)
  }
  expect(linesOf(trace).length).toBeGreaterThan(30)

  // The record itself is what the topics are for; who sent it, and with what, is not.
  expect(messages.length).toBeGreaterThan(4)
  expect(messages.some(({ value }) => value.includes(canary))).toBe(true)
  for (const { topic, key, headers, value } of messages) {
    expect(`${key}${headers}`, topic).not.toMatch(new RegExp(`${canary}|${secret}`))
    // A refused record is kept as it was given: one of those above has the key in it.
    if (topic.startsWith('weir.accepted')) expect(value.includes(secret), topic).toBe(false)
  }
})

it('control characters stay within one JSON line', async () => {
  const nasty = 'x\r\n{"level":60,"msg":"forged"}\r\n\u001b[31mred\u001b[0m\u2028\u0085'
  const { send, upload, interact } = createUploader(system.edgeUrl, org.key)
  const answer = await upload('shops', [
    { shop_id: nasty, [nasty]: 1 },
    sampleOf(shop, { name: nasty, region: nasty }),
    sampleOf(shop, { name: nasty }),
  ])
  expect(answer.status).toBe(207)
  for (const { data } of (answer.body as UploadAnswer).batches)
    for (const { id, problems } of data.errors ?? [])
      expect(JSON.stringify([id, problems])).not.toMatch(/\\r|\\n|\\u001b/)
  await interact({ interaction_type: nasty, [nasty]: nasty })
  for (const path of ['/v1/data/', '/v1/requests/', '/', '/user-interactions?user_id='])
    await send(path === '/v1/data/' ? 'POST' : 'GET', path + encodeURIComponent(nasty))

  for (const header of ['user-agent', 'idempotency-key', 'content-type', 'x-forwarded-for', 'x-request-id', 'host'])
    await sayRaw(`POST /v1/data/shops HTTP/1.1\r\nhost: x\r\n${header}: a\u001b[31m\tb\r\n c\r\n\r\n`)
  await sayRaw(`GET /\u001b[31m HTTP/1.1\r\nhost: x\r\n\r\n`)
  await sayRaw(`\u001b[31m\r\n\r\n`)

  expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200)
  await untilQuiet(system.env.KAFKA_BROKERS)
  for (const { name, text } of serviceLogs()) {
    if (!/^(edge|integrity|sink)\.log/.test(name)) continue
    for (const line of linesOf(text)) {
      expect(() => JSON.parse(line), `${name}: ${line}`).not.toThrow()
      expect(line).not.toMatch(/\p{Cc}/u)
      expect(JSON.parse(line)).not.toMatchObject({ msg: 'forged' })
    }
  }
})
