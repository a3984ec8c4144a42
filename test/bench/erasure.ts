// node deploy/embedded/run-source.mjs test/bench/erasure.ts [transactions] [persons] [--quiet]: how long it takes to forget many persons at once
// who are named by transactions of one large organisation, and how fast another organisation uploads meanwhile; with --quiet nobody uploads.
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { pino } from 'pino'
import { createPool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import { shop } from '#schemas/records/shop.js'
import { pidIn } from '../support/process-tree.js'
import { untilQuiet } from '../support/system/groups.js'
import { toCount } from '../support/to-count.js'
import { createBody, renew } from './load/bodies.js'
import { openConnection } from './load/connection.js'
import { readProcesses } from './measure/processes.js'
import { makeOrganisations } from './organisations.js'
import { type Bench, withSystem } from './system.js'

const transactions = toCount(process.argv[2] ?? '10000000')
const persons = toCount(process.argv[3] ?? '10000')
const isQuiet = process.argv[4] === '--quiet'
const customers = 20 * persons
const records = 5_000
const atOnce = 4
const aloneSeconds = isQuiet ? 0 : 30

const say = (line: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`)

const figures = await withSystem({ say, onStarted: () => {} }, measure)
process.stdout.write(`${JSON.stringify({ transactions, customers, persons, ...figures }, null, 2)}\n`)

async function measure({ system, pids: others }: Bench): Promise<Record<string, unknown>> {
  const url = system.edgeUrl
  const pids = new Map([...others, ['delivery', pidIn(system.dataDir, 'delivery')]])
  const { POSTGRES_URL, KAFKA_BROKERS } = system.env
  const [large = '', other = ''] = await makeOrganisations(POSTGRES_URL, 'erasure', 2)
  const ids = Array.from({ length: customers }, () => randomUUID())
  say(`${customers} customers …`)
  await post(
    large,
    'customers',
    customers,
    (n) => `{"customer_id":"${ids[n]}","user_id":"${randomUUID()}","region":"GB"}`,
  )
  const shopId = randomUUID()
  await post(large, 'shops', 1, () => `{"shop_id":"${shopId}","name":"bench","region":"GB"}`)
  say(`${transactions} transactions …`)
  await post(
    large,
    'transactions',
    transactions,
    (n) =>
      `{"transaction_id":"${randomUUID()}","shop_id":"${shopId}","student_id":"${ids[(n * 7919) % customers]}","region":"GB","amount":${(1 + (n % 9999)) / 100},"savings":1}`,
  )
  await untilQuiet(KAFKA_BROKERS, 3_600_000)

  say('uploads alone …')
  let uploaded = 0
  const lapAlone = createLap(pids, uploaded)
  const alone = await uploadUntil(other, wait(aloneSeconds * 1000))
  const steps: Record<string, unknown>[] = [{ step: 'uploads alone', ...lapAlone(uploaded) }]
  await untilQuiet(KAFKA_BROKERS, 600_000)
  say(`${persons} persons …`)
  const pool = createPool(POSTGRES_URL, pino({ level: 'silent' }), 1)
  const began = performance.now()
  let asked = 0
  const done = (async () => {
    let lap = createLap(pids, uploaded)
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let n = asked++; n < persons; n = asked++) {
          const body = JSON.stringify({ person_id: ids[n], mode: 'erase' })
          await request(large, '/v1/erasures', body, 202)
        }
      }),
    )
    say(`asked for, ${Math.round((performance.now() - began) / 1000)} s`)
    let [before, step] = ['', 'asking']
    for (;;) {
      const states = await rowsOf<{ status: string; step: string; problem: string | null; count: number }>(
        pool,
        'select status, step, problem, count(*)::integer as count from erasure.erasures group by 1, 2, 3 order by 1, 2',
      )
      const now = states.map(({ status, step, problem, count }) => `${count} ${status}: ${problem ?? step}`).join('; ')
      if (now !== before) say(now)
      before = now
      const current = states.map((state) => state.step).find((name) => name !== 'done') ?? 'done'
      if (current !== step) {
        steps.push({ step, ...lap(uploaded) })
        lap = createLap(pids, uploaded)
        step = current
      }
      if (states.every(({ status }) => status === 'done')) return
      await wait(1000)
    }
  })()
  const meanwhile = await uploadUntil(other, done)
  const seconds = (performance.now() - began) / 1000
  await pool.end()
  // Uploads become slower by themselves as tables and indexes grow: so they are alone before and after.
  say('uploads alone, once more …')
  const lapAfter = createLap(pids, uploaded)
  const after = await uploadUntil(other, wait(aloneSeconds * 1000))
  steps.push({ step: 'uploads alone', ...lapAfter(uploaded) })
  const ratio = meanwhile / ((alone + after) / 2)
  return { seconds, uploadsBefore: alone, uploadsAfter: after, uploadsMeanwhile: meanwhile, ratio, steps }

  /** Sends records of a type, several requests at once. */
  async function post(key: string, type: string, count: number, recordOf: (n: number) => string): Promise<void> {
    let next = 0
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (let from = next; from < count; from = next) {
          next = Math.min(count, from + records)
          const all = Array.from({ length: next - from }, (_, n) => recordOf(from + n))
          await request(key, `/v1/data/${type}`, `{"records":[${all}]}`, 200)
        }
      }),
    )
  }

  async function request(key: string, path: string, body: string, wanted: number): Promise<void> {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    }
    for (;;) {
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body })
      const text = await answer.text()
      if (answer.status === wanted) return
      if (answer.status !== 503 && answer.status !== 429)
        throw new Error(`answered ${answer.status}: ${text.slice(0, 500)}`)
      await wait(1000)
    }
  }

  /** Uploads shops until something has ended; resolves to how many were accepted in a second. */
  async function uploadUntil(key: string, end: Promise<unknown>): Promise<number> {
    let isOver = isQuiet
    const ended = end.finally(() => {
      isOver = true
    })
    const from = performance.now()
    let sent = 0
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        const connection = await openConnection(url)
        const shops = createBody(shop, 500)
        while (!isOver) {
          renew(shops, new Map())
          const head = `POST /v1/data/shops HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${shops.bytes.length}\r\n\r\n`
          const answer = await connection.send(Buffer.from(head), shops.bytes)
          if (answer.status === 200) {
            sent += 500
            uploaded += 500
          } else if (answer.status === 503) await wait(1000)
          else throw new Error(`answered ${answer.status}: ${answer.body.toString().slice(0, 500)}`)
        }
        connection.close()
      }),
    )
    const took = (performance.now() - from) / 1000
    await ended
    return sent / took
  }
}

/** From now on: seconds, records that were uploaded in one of them, and how much of a processor each process had, in percent. */
function createLap(pids: ReadonlyMap<string, number>, uploadedBefore: number) {
  const begun = performance.now()
  const before = readProcesses(pids)
  return (uploaded: number) => {
    const seconds = (performance.now() - begun) / 1000
    const percent = [...readProcesses(pids)].map(([name, { cpuSeconds }]): [string, number] => [
      name,
      Math.round((100 * (cpuSeconds - (before.get(name)?.cpuSeconds ?? 0))) / seconds),
    ])
    const lap = {
      ...{ seconds: Math.round(seconds), uploads: Math.round((uploaded - uploadedBefore) / seconds) },
      percent: Object.fromEntries(percent),
    }
    say(JSON.stringify(lap))
    return lap
  }
}
