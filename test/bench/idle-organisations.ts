// node deploy/embedded/run-source.mjs test/bench/idle-organisations.ts [organisations]: what thousands of organisations cost that send
// nothing. The same requests come first from ten organisations, then one from each of many; after each of the two, the same is looked at.
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { commandLine } from '#ledger/audit.js'
import { issueKey } from '#ledger/keys.js'
import { readPeers } from '#platform/health/peers.js'
import { createPool, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { pidIn } from '../support/process-tree.js'
import { runWeir } from '../support/run-weir.js'
import { untilQuiet } from '../support/system/groups.js'
import { toCount } from '../support/to-count.js'
import { createBody, renew } from './load/bodies.js'
import { openConnection } from './load/connection.js'
import { latenciesOf } from './measure/figures.js'
import { readProcesses, residentMegabytes } from './measure/processes.js'
import { makeOrganisations } from './organisations.js'
import { type Bench, withSystem } from './system.js'

const many = toCount(process.argv[2] ?? '20000')
const few = 10
const atOnce = 64
const shopsEach = 3
const idleSeconds = 60
const uploads = 200
const changes = 20_000
const services = ['edge', 'integrity', 'sink'] as const

const say = (line: string) => process.stderr.write(`${line}\n`)
type Look = Record<string, number>

const looks = await withSystem({ say, onStarted: () => {} }, async (bench) => {
  const { POSTGRES_URL, KAFKA_BROKERS } = bench.system.env
  const pool = createPool(POSTGRES_URL, pino({ level: 'silent' }), 2)
  try {
    const wanted = { org: 'weir-operators', scopes: null, lifetime: null, isOperator: true }
    const operator = await inTransaction(pool, (connection) => issueKey(connection, wanted, commandLine))
    const lookAfter = async (name: string, count: number): Promise<Look> => {
      say(`${count} organisations …`)
      const keys = await makeOrganisations(POSTGRES_URL, name, count)
      await send(bench.system.edgeUrl, keys, many)
      await untilQuiet(KAFKA_BROKERS, 600_000)
      return look(bench, pool, operator.key)
    }
    return { few: await lookAfter('few', few), many: await lookAfter('idle', many) }
  } finally {
    await pool.end()
  }
})
process.stdout.write(`${JSON.stringify({ organisations: { few, many }, ...looks }, null, 2)}\n`)

/** Sends `requests` requests of a few shops each, with these keys by turns; resolves to the milliseconds that each took. */
async function send(url: string, keys: readonly string[], requests: number, connections = atOnce): Promise<number[]> {
  const took: number[] = []
  let sent = 0
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const connection = await openConnection(url)
      const shops = createBody(shop, shopsEach)
      for (let n = sent++; n < requests; n = sent++) {
        renew(shops, new Map())
        const head = `POST /v1/data/shops HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${keys[n % keys.length]}\r\ncontent-type: application/json\r\ncontent-length: ${shops.bytes.length}\r\n\r\n`
        const began = performance.now()
        let answer = await connection.send(Buffer.from(head), shops.bytes)
        // On a busy machine integrity falls behind, and uploaders are asked to come again.
        for (; answer.status === 503; answer = await connection.send(Buffer.from(head), shops.bytes)) await wait(1000)
        if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.body.toString().slice(0, 500)}`)
        took.push(performance.now() - began)
      }
      connection.close()
    }),
  )
  return took
}

/** Everything that might grow with organisations; milliseconds, megabytes, bytes and counts. */
async function look({ system, pids }: Bench, pool: Pool, operatorKey: string): Promise<Look> {
  const found: Look = {}
  const { edgeUrl, demoKey, dataDir, env } = system
  const nowRunning = () =>
    new Map([...pids.keys()].filter((name) => name !== 'generator').map((name) => [name, pidIn(dataDir, name)]))
  const noteMemory = (when: string) => {
    for (const name of services) found[`${name}, MB ${when}`] = residentMegabytes(pidIn(dataDir, name))
  }
  const noteHeap = async () => {
    const figures = await ask('/metrics', operatorKey)()
    for (const name of services)
      for (const [kind, part] of Object.entries({ heap: 'heap_size_used_bytes', buffers: 'external_memory_bytes' })) {
        const bytes = new RegExp(`^nodejs_${part}\\{service="${name}"\\} (\\S+)`, 'm').exec(figures)?.[1]
        found[`${name}, MB of ${kind}`] = Math.round(Number(bytes) / 2 ** 20)
      }
  }
  const timed = async (name: string, work: () => Promise<string>) => {
    const began = performance.now()
    const text = await work()
    found[`${name}, ms`] = Math.round(performance.now() - began)
    found[`${name}, bytes`] = text.length
    return text
  }
  const ask = (path: string, key: string) => async () => {
    const answer = await fetch(edgeUrl + path, { headers: { authorization: `Bearer ${key}` } })
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
    return answer.text()
  }

  noteMemory('after the load')
  await noteHeap()
  const before = readProcesses(nowRunning())
  await wait(idleSeconds * 1000)
  for (const [name, { cpuSeconds }] of readProcesses(nowRunning()))
    found[`${name}, idle CPU ms a second`] = round(
      ((cpuSeconds - (before.get(name)?.cpuSeconds ?? 0)) * 1000) / idleSeconds,
    )

  const since = new Date().toISOString()
  found['an upload, ms (p50)'] = latenciesOf(await send(edgeUrl, [demoKey], uploads, 1)).p50
  const figures = await timed('GET /metrics', ask('/metrics', operatorKey))
  for (const name of services) {
    const lines = figures.split('\n').filter((line) => line.startsWith(`weir_${name}_`))
    found[`${name}, series`] = lines.length
    found[`${name}, bytes of metrics`] = lines.join('\n').length
  }
  // The first is not counted: it prepares statements and opens connections.
  for (const path of ['/v1/operator/organisations', '/v1/operator/keys', '/v1/operator/keys?org=demo'])
    for (const _ of ['warm', 'counted']) await timed(`GET ${path}`, ask(path, operatorKey))
  for (const _ of ['warm', 'counted']) await timed('GET /v1/overview', ask('/v1/overview', demoKey))
  await timed('GET /v1/live, until the history', async () => {
    const ending = new AbortController()
    const headers = { authorization: `Bearer ${demoKey}` }
    const answer = await fetch(`${edgeUrl}/v1/live`, { headers, signal: ending.signal })
    const first = await answer.body?.getReader().read()
    ending.abort()
    return Buffer.from(first?.value ?? []).toString()
  })
  await untilQuiet(env.KAFKA_BROKERS)
  for (const words of [
    ['orgs', 'list'],
    ['keys', 'list'],
    ['keys', 'list', '--org', 'demo'],
    ['prune', '--dry-run'],
    ['verify', '--org', 'demo', '--since', since],
    ['verify', '--since', since],
  ])
    await timed(`weir ${words.filter((word) => word !== since).join(' ')}`, async () => {
      const { stdout, stderr, exitCode } = await runWeir(words, { ...process.env, ...env })
      if (exitCode !== 0) throw new Error(`weir ${words.join(' ')} ended with ${exitCode}: ${stderr} ${stdout}`)
      return stdout
    })

  found['edge, CPU ms for a changed key'] = await changeKeys(pool, pidIn(dataDir, 'edge'))
  const peers = readPeers(env.PEERS ?? '')
  const urls = { edge: edgeUrl, integrity: peers.get('integrity') ?? '' }
  for (const [name, url] of Object.entries(urls)) {
    const began = performance.now()
    const old = pidIn(dataDir, name)
    process.kill(old, 'SIGKILL')
    await eventually(async () => {
      if (pidIn(dataDir, name) === old) throw new Error(`${name} is not started yet`)
      const answer = await fetch(`${url}/readyz`)
      if (answer.status !== 200) throw new Error(`not ready: ${await answer.text()}`)
    }, 120_000)
    found[`${name}, ms from a kill until ready`] = Math.round(performance.now() - began)
  }
  noteMemory('after a start')
  return found
}

/** What an edge spends on each notification that a key has changed, where thousands come at once: as when that many were issued. */
async function changeKeys(pool: Pool, pid: number): Promise<number> {
  const spent = () => readProcesses(new Map([['edge', pid]])).get('edge')?.cpuSeconds ?? 0
  const before = spent()
  await pool.query(`select pg_notify('weir_keys', 'key' || n) from generate_series(1, $1::int) as n`, [changes])
  // The edge has taken them in when there comes a second in which it spends hardly anything.
  for (let last = Number.NEGATIVE_INFINITY; spent() - last > 0.1; await wait(1000)) last = spent()
  return round(((spent() - before) * 1000) / changes)
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}
