// node deploy/embedded/run-source.mjs test/bench/waiting-readers.ts [readers] [organisations]: what readers of feeds cost one edge that wait,
// each on a connection of its own, and how soon they hear of an upload.
import { setTimeout as wait } from 'node:timers/promises'
import { shop } from '#schemas/records/shop.js'
import { toCount } from '../support/to-count.js'
import { createBody, renew } from './load/bodies.js'
import { openConnection } from './load/connection.js'
import { latenciesOf } from './measure/figures.js'
import { readProcesses } from './measure/processes.js'
import { makeOrganisations } from './organisations.js'
import { withSystem } from './system.js'

const readers = toCount(process.argv[2] ?? '10000')
const organisations = toCount(process.argv[3] ?? '1000')
const waitsFor = '30s'
const lookSeconds = 60
const uploads = 200
const openedAtOnce = 100

type Connection = Awaited<ReturnType<typeof openConnection>>

const say = (line: string) => process.stderr.write(`${line}\n`)
const head = (method: string, path: string, key: string | undefined, length = 0) =>
  Buffer.from(
    `${method} ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\n${length > 0 ? `content-type: application/json\r\ncontent-length: ${length}\r\n` : ''}\r\n`,
  )
const nothing = Buffer.alloc(0)

const found = await withSystem({ say, onStarted: () => {} }, async ({ system, pids }) => {
  const keys = await makeOrganisations(system.env.POSTGRES_URL, 'readers', organisations)
  const edge = new Map([...pids].filter(([name]) => ['edge', 'postgres', 'kafka'].includes(name)))
  const look = async (seconds: number) => {
    const before = readProcesses(edge)
    await wait(seconds * 1000)
    const after = readProcesses(edge)
    const ofEach = [...after].map(([name, { cpuSeconds, megabytes }]) => {
      const ms = ((cpuSeconds - (before.get(name)?.cpuSeconds ?? 0)) * 1000) / seconds
      return [name, { cpuMsASecond: Math.round(ms), megabytes: Math.round(megabytes) }]
    })
    return Object.fromEntries(ofEach)
  }
  const idle = await look(20)

  // When each organisation's upload was answered last, and how long after the upload began its readers heard of it.
  const begun = new Map<number, number>()
  const heard: number[] = []
  let answered = 0
  let turnedAway = 0
  let isOver = false
  const read = async (connection: Connection, n: number): Promise<void> => {
    const org = n % organisations
    for (let after = 'now'; !isOver; ) {
      const answer = await connection.send(
        head('GET', `/v1/feeds/shops?after=${after}&wait=${waitsFor}`, keys[org]),
        nothing,
      )
      if (answer.status === 503) {
        turnedAway++
        await wait(5_000)
        continue
      }
      if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.body.toString().slice(0, 300)}`)
      const { events, next } = JSON.parse(answer.body.toString()) as { events: unknown[]; next: string }
      after = next
      answered++
      const since = begun.get(org)
      if (events.length > 0 && since !== undefined) heard.push(performance.now() - since)
    }
  }
  const connections: Connection[] = []
  const reading: Promise<void>[] = []
  const opening = performance.now()
  for (let from = 0; from < readers; from += openedAtOnce) {
    const some = await Promise.all(
      Array.from({ length: Math.min(openedAtOnce, readers - from) }, () => openConnection(system.edgeUrl)),
    )
    for (const connection of some) {
      connections.push(connection)
      reading.push(read(connection, connections.length - 1))
    }
  }
  say(`${readers} readers wait after ${((performance.now() - opening) / 1000).toFixed(1)} s`)
  await wait(5_000)
  say(`${turnedAway} were asked to come again`)
  answered = 0
  const waiting = await look(lookSeconds)
  const pollsASecond = Math.round(answered / lookSeconds)

  const uploader = await openConnection(system.edgeUrl)
  const body = createBody(shop, 1)
  const took: number[] = []
  for (let n = 0; n < uploads; n++) {
    const org = n % organisations
    renew(body, new Map())
    begun.set(org, performance.now())
    const began = performance.now()
    const answer = await uploader.send(head('POST', '/v1/data/shops', keys[org], body.bytes.length), body.bytes)
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.body.toString().slice(0, 300)}`)
    took.push(performance.now() - began)
    await wait(100)
  }
  await wait(2_000)
  isOver = true
  for (const connection of connections) connection.close()
  uploader.close()
  await Promise.allSettled(reading)
  return {
    ...{ readers, organisations, turnedAway, idle, waiting, pollsASecond, uploads },
    upload: latenciesOf(took),
    heard: { ...latenciesOf(heard), count: heard.length },
  }
})
process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
process.exit()
