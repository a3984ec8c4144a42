// The load generator: a process of its own, so that what it costs is not counted as Weir's. Takes its orders from the process
// that started it, one after another, and ends with it.
import { setTimeout as wait } from 'node:timers/promises'
import { catalogue } from '#schemas/catalogue.js'
import type { RecordType } from '#schemas/record.js'
import { interactionIdAt } from '#schemas/uuid.js'
import { latenciesOf } from '../measure/figures.js'
import {
  type Body,
  createBody,
  createInteractionBody,
  idLength,
  lastIdOf,
  newIds,
  renew,
  shopIdsOf,
  writeIds,
} from './bodies.js'
import { openConnection } from './connection.js'
import { createInStep, outOfStep } from './in-step.js'
import type { FromGenerator, LoadPlan, LoadResult, Stream, ToGenerator } from './plan.js'

const known = new Map<string, Buffer>()
/** Ids from the load under way; they join the known ones when it ends. */
const remembered = new Map<string, Buffer[]>()
const tell = (message: FromGenerator) => void process.send?.(message)
// One answer in a tenth of a second is looked for in ClickHouse: enough for percentiles, and looking costs ClickHouse little.
const sampleEveryMs = 100
// After an answer that says there is too much to do.
const restMs = 200

let queue = Promise.resolve()
process.on('message', (order: ToGenerator) => {
  queue = queue.then(async () => {
    try {
      tell({ kind: 'done', result: order.kind === 'load' ? await load(order.plan) : await makeKnown(order) })
    } catch (error) {
      tell({ kind: 'failed', message: String(error) })
    }
  })
})
process.on('disconnect', () => process.exit(0))
// A terminal sends Ctrl-C to every process; the one that started this one decides when it ends.
process.on('SIGINT', () => {})

/** Uploads records that later ones can refer to. */
async function makeKnown({ type, count, url, key }: ToGenerator & { kind: 'know' }): Promise<LoadResult> {
  const list = newIds(count)
  const recordType = typeOf(type)
  const size = Math.min(count, recordType.limit)
  const body = createBody(recordType, size)
  const connection = await openConnection(url)
  for (let from = 0; from < count; from += size) {
    renew(body, known)
    // The last piece begins early enough to be a full one: some ids are then uploaded twice, which changes nothing.
    writeIds(body, list, Math.min(from, count - size))
    const { status, body: answer } = await connection.send(
      headOf(`/v1/data/${type}`, key, body.bytes.length),
      body.bytes,
    )
    if (status !== 200)
      throw new Error(`upload of known ${type} was answered ${status}: ${String(answer).slice(0, 300)}`)
  }
  connection.close()
  known.set(type, list)
  const none = { requests: 0, refused: 0, seconds: 0, took: latenciesOf([]), statuses: {} }
  return { ...none, records: count, accepted: { [type]: count } }
}

async function load(plan: LoadPlan): Promise<LoadResult> {
  const tally = { requests: 0, records: 0, refused: 0, sent: 0 }
  const accepted: Record<string, number> = {}
  const statuses: Record<string, number> = {}
  const took: number[] = []
  let problem: string | undefined
  let sampledAt = 0
  const each = await Promise.all(plan.streams.flatMap((stream) => prepare(stream, plan)))
  tell({ kind: 'began' })
  const began = performance.now()
  const {
    seconds: planned = Number.POSITIVE_INFINITY,
    leastRecords = 0,
    records: most = Number.POSITIVE_INFINITY,
  } = plan
  const isOver = () => {
    const passed = (performance.now() - began) / 1000
    return tally.sent >= most || passed >= (tally.sent < leastRecords ? 3 : 1) * planned
  }

  /** When the next request is due, in a load of so many records a second. */
  const nextDue = (records: number): number => {
    const due = plan.perSecond ? began + (tally.sent / plan.perSecond) * 1000 : 0
    tally.sent += records
    return due
  }

  const sendShops = async ({ body, connection, shops, shopHeads }: Prepared, key: number): Promise<void> => {
    if (!shops) return
    writeIds(shops, shopIdsOf(body), 0)
    const { status, body: answer } = await connection.send(shopHeads[key] as Buffer, shops.bytes)
    if (status !== 200) problem ??= `/v1/data/shops answered ${status}: ${String(answer).slice(0, 300)}`
    else accepted.shops = (accepted.shops ?? 0) + shops.records
  }

  const inStep = plan.inStep ? createInStep(each.length) : outOfStep
  const work = async (prepared: Prepared, number: number): Promise<void> => {
    const { stream, body, heads, connection, remember } = prepared
    while (!isOver()) {
      await inStep.next(number)
      if (isOver()) break
      const due = nextDue(body.records)
      renew(body, known)
      if (due - performance.now() > 1) await wait(due - performance.now())
      if (isOver() && due > 0) break
      const key = Math.floor(Math.random() * heads.length)
      if (stream.newShops?.sent === 'before') await sendShops(prepared, key)
      // From the moment it was due, not from when it could be sent: a server that stalls delays those that follow, too.
      const from = due || performance.now()
      const { status, body: answer } = await connection.send(heads[key] as Buffer, body.bytes)
      const now = performance.now()
      tally.requests++
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status !== 200 && status !== 201 && status !== 207) {
        problem ??= `${stream.path} answered ${status}: ${String(answer).trim().slice(0, 300)}`
        await wait(restMs)
        continue
      }
      took.push(now - from)
      tally.records += body.records
      tally.refused += body.refused
      accepted[stream.type] = (accepted[stream.type] ?? 0) + body.records - body.refused
      remember(body)
      if (stream.newShops?.sent === 'after') await sendShops(prepared, key)
      // Of several organisations none is looked for: finding a record of any of them would cost ClickHouse too much.
      if (now - sampledAt < sampleEveryMs || plan.keys.length > 1) continue
      sampledAt = now
      const id = body.ids.length > 0 ? lastIdOf(body) : givenId(JSON.parse(String(answer)), body.records)
      tell({ kind: 'answered', answered: { type: stream.type, id, at: performance.timeOrigin + now } })
    }
  }
  await Promise.all(each.map((prepared, number) => work(prepared, number).finally(() => inStep.end(number))))
  const seconds = (performance.now() - began) / 1000
  for (const { connection } of each) connection.close()
  for (const [type, kept] of remembered) known.set(type, Buffer.concat([known.get(type) ?? Buffer.alloc(0), ...kept]))
  remembered.clear()
  const { requests, records, refused } = tally
  return {
    requests,
    records,
    accepted,
    refused,
    seconds,
    took: latenciesOf(took),
    statuses,
    ...(problem === undefined ? {} : { problem }),
  }
}

type Prepared = Awaited<ReturnType<typeof prepare>[number]>

/** The connections of a stream, each with a body of its own: one that is on its way must not change. */
const prepare = ({ connections, ...stream }: Stream, { url, keys }: LoadPlan) => {
  const body =
    stream.path === '/user-interactions' || stream.path === '/interaction'
      ? createInteractionBody(catalogue.interaction)
      : createBody(typeOf(stream.type), stream.recordsPerRequest, stream.wrong, stream.newShops?.count)
  const shops = stream.newShops ? createBody(typeOf('shops'), body.shops.length) : undefined
  const heads = keys.map((key) => headOf(stream.path, key, body.bytes.length))
  return Array.from({ length: connections }, async () => ({
    stream,
    heads,
    body: { ...body, bytes: Buffer.from(body.bytes) },
    shops: shops && { ...shops, bytes: Buffer.from(shops.bytes) },
    shopHeads: shops ? keys.map((key) => headOf('/v1/data/shops', key, shops.bytes.length)) : [],
    connection: await openConnection(url),
    remember: stream.remember === undefined ? () => {} : rememberOneIn(stream.remember, stream.type),
  }))
}

/** Keeps one id in so many of a body, for later requests to refer to. */
const rememberOneIn = (every: number, type: string) => {
  const kept: Buffer[] = remembered.get(type) ?? []
  remembered.set(type, kept)
  return ({ bytes, ids }: Body): void => {
    const some = Buffer.alloc(Math.ceil(ids.length / every) * idLength)
    for (let n = 0; n * every < ids.length; n++) {
      const at = ids[n * every] as number
      bytes.copy(some, n * idLength, at, at + idLength)
    }
    kept.push(some)
  }
}

/** The id that the service gave to the only interaction of a request, or to the last of many. */
const givenId = (answer: { interaction_id?: string; request_id: string }, records: number): string =>
  answer.interaction_id ?? interactionIdAt(answer.request_id, records - 1)

const typeOf = (name: string): RecordType => {
  const type = catalogue.all.get(name)
  if (!type) throw new Error(`there is no type called ${name}`)
  return type
}

const headOf = (path: string, key: string, length: number): Buffer =>
  Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
  )
