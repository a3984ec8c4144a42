import { execa } from 'execa'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { committedByPlace } from '#platform/kafka/committed-offsets.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import { createPool } from '#platform/postgres/postgres.js'
import { shop } from '#schemas/records/shop.js'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import { eventually } from '../support/eventually.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { type Stack, startParts } from '../support/stack.js'
import { readyzOf } from '../support/system/readiness.js'
import { createUploader } from '../support/system/uploader.js'

// A partition is added to a topic by hand, and "A partition was added by hand" in docs/runbook.md is followed, step by step.

const log = pino({ level: 'silent' })
const topic = 'weir.submitted.shops'
let parts: Stack
const running = new Set<() => Promise<void>>()
beforeAll(async () => {
  parts = await startParts()
})
afterAll(async () => {
  for (const stop of running) await stop()
  await parts?.stop()
})

const startService = async (name: 'edge' | 'integrity', env: Record<string, string> = {}) => {
  const [port = 0] = await freePorts(1)
  const variables = { ...parts.env, LOG_LEVEL: 'warn', [`${name.toUpperCase()}_PORT`]: String(port), ...env }
  const service = execa(process.execPath, [`dist/services/${name}/main.js`], { env: variables, reject: false })
  const stop = async (): Promise<void> => {
    running.delete(stop)
    service.kill('SIGTERM')
    expect((await service).exitCode).toBe(0)
  }
  running.add(stop)
  return { url: `http://127.0.0.1:${port}`, stop }
}
const weir = async (...words: string[]) => {
  const said = await runWeir(words, parts.env)
  expect(said.exitCode, said.stderr).toBe(0)
  return said.stdout
}
/** Until nothing but these parts is not ready. */
const untilOnly = (url: string, down: string[], query = '') =>
  eventually(async () => {
    const answer = await readyzOf(url, query)
    const found = Object.entries(answer.parts).filter(([, part]) => !part.ok)
    expect(found.map(([name]) => name)).toEqual(down)
    return answer
  }, 60_000)

it('says that a topic has grown, and loses nothing on the way out', async () => {
  await weir('provision')
  const { key } = JSON.parse(await weir('keys', 'issue', '--org', 'acme', '--json'))
  let integrity = await startService('integrity')
  let edge = await startService('edge', { PEERS: `integrity=${integrity.url}` })
  const ready = () => untilOnly(edge.url, [])
  await ready()
  const given = sampleOf(shop)
  const upload = async () => expect((await createUploader(edge.url, key).upload('shops', [given])).status).toBe(200)
  await upload()

  const kafka = createKafka({ brokers: parts.env.KAFKA_BROKERS, clientId: 'added-partition', log })
  await kafka.withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic, count: 5 }] }))
  const grown = `${topic} has 5 instead of 4`
  const { parts: states } = await untilOnly(integrity.url, ['partitions'])
  expect(states.partitions).toMatchObject({ problem: expect.stringContaining(grown) })
  expect((await untilOnly(edge.url, ['integrity'])).parts.integrity).toMatchObject({
    problem: expect.stringContaining(grown),
  })
  expect((await readyzOf(edge.url, '?for=uploads')).httpStatus).toBe(200)
  await upload()
  // A stranger's message there is not decided; who runs already is given the partition within five minutes.
  const producer = await kafka.createProducer()
  await producer.send(topic, 4, [{ key: 'stranger', value: Buffer.from('hello') }])
  await producer.close()

  // Step 1, with an integrity that starts anew.
  await edge.stop()
  await integrity.stop()
  integrity = await startService('integrity')
  const told = await untilOnly(integrity.url, ['decisions', 'partitions'])
  expect(told.parts.decisions).toMatchObject({ problem: expect.stringContaining('added by hand') })
  // What `kafka-consumer-groups.sh --describe` shows as LAG.
  await eventually(async () => {
    const committed = await committedByPlace(kafka, [{ groupId: 'weir-integrity', topics: [topic] }])
    const made = (await stretchesOf(kafka, [topic])).filter(({ partition }) => partition < 4)
    for (const one of made) expect(committed.get(placeOf(one)) ?? 0, placeOf(one)).toBe(one.until)
  })
  await integrity.stop()
  await kafka.withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
  await weir('provision')
  expect(await weir('accept-loss', '--yes')).toContain('offsets 0 to 1 were decided')
  integrity = await startService('integrity')
  edge = await startService('edge', { PEERS: `integrity=${integrity.url}` })
  await ready()
  await upload()
  const pool = createPool(parts.env.POSTGRES_URL, log, 1)
  const { rows } = await pool.query(
    'select submitted_offset as at from integrity.verdicts where topic = $1 and accepted = 1 order by 1',
    [topic],
  )
  await pool.end()
  expect(rows.map(({ at }) => Number(at))).toEqual([0, 1, 2])
  expect(await weir('accept-loss')).toBe('Nothing is lost: log and Postgres fit together.')
})
