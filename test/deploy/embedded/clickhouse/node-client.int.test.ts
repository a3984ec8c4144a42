import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type ClickHouseClient, createClient } from '@clickhouse/client'
import avro from 'avsc'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningEngine, startEngine } from './running-engine.js'

let engine: RunningEngine
let folder: string
let client: ClickHouseClient

const connect = () => {
  client = createClient({
    url: engine.ownUrl,
    compression: { request: true, response: true },
    max_open_connections: 50,
  })
}
const count = async (table: string) => {
  const answer = await client.query({ query: `SELECT count()::UInt32 AS n FROM ${table}`, format: 'JSONEachRow' })
  return (await answer.json<{ n: number }>())[0]?.n
}
const createTable = (name: string) =>
  client.command({ query: `CREATE TABLE ${name} (id UInt32, name String) ENGINE = MergeTree ORDER BY id` })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-clickhouse-'))
  engine = await startEngine(folder)
  connect()
})

afterAll(async () => {
  await client.close()
  expect(await engine.kill('SIGTERM')).toBe(0)
  await rm(folder, { recursive: true, force: true })
})

it('inserts and queries with parameters and settings, packed both ways', async () => {
  await createTable('plain')
  await client.insert({ table: 'plain', values: [{ id: 1, name: "it's\té" }], format: 'JSONEachRow' })
  const answer = await client.query({
    query: "SELECT name, getSetting('max_threads') AS threads FROM plain WHERE name = {name:String}",
    query_params: { name: "it's\té" },
    clickhouse_settings: { max_threads: 3 },
    format: 'JSONEachRow',
  })
  expect(await answer.json()).toEqual([{ name: "it's\té", threads: 3 }])
})

it('inserts Avro', async () => {
  await createTable('avro')
  const type = avro.Type.forSchema({
    type: 'record',
    name: 'row',
    fields: [
      { name: 'id', type: 'int' },
      { name: 'name', type: 'string' },
    ],
  })
  const encoder = new avro.streams.BlockEncoder(type)
  for (let id = 0; id < 5_000; id++) encoder.write({ id, name: `row ${id}` })
  encoder.end()
  const { stream } = await client.exec({ query: 'INSERT INTO avro FORMAT Avro', values: Readable.from(encoder) })
  stream.resume()
  expect(await count('avro')).toBe(5_000)
})

it('tells errors by code and type', async () => {
  const failure = client.query({ query: 'SELECT * FROM nowhere' })
  await expect(failure).rejects.toMatchObject({ code: '60', type: 'UNKNOWN_TABLE' })
})

it('serves many at once', async () => {
  await createTable('many')
  const work = Array.from({ length: 40 }, async (_, id) => {
    await client.insert({ table: 'many', values: [{ id, name: 'x' }], format: 'JSONEachRow' })
    const answer = await client.query({
      query: 'SELECT {id:UInt32} AS id, toUnixTimestamp64Milli(now64(3)) AS begun, sleep(0.25)',
      query_params: { id },
      format: 'JSONEachRow',
    })
    return (await answer.json<{ id: number; begun: string }>())[0]
  })
  const answers = await Promise.all(work)
  expect(answers.map((answer) => answer?.id)).toEqual(Array.from({ length: 40 }, (_, id) => id))
  expect(await count('many')).toBe(40)
  // One after another, each would begin when the one before it has slept.
  const begun = answers.map((answer) => Number(answer?.begun)).sort((a, b) => a - b)
  expect(begun.some((time, i) => i > 0 && time - (begun[i - 1] ?? 0) < 250)).toBe(true)
})

it('ends a query whose client has left', async () => {
  const leave = new AbortController()
  const endless = client.query({
    query: 'SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))',
    abort_signal: leave.signal,
  })
  const running = "system.processes WHERE query LIKE '%sipHash64(number)%' AND query NOT LIKE '%system.processes%'"
  const end = expect(endless).rejects.toThrow()
  await expect.poll(() => count(running), { timeout: 120_000 }).toBe(1)
  leave.abort()
  await end
  await expect.poll(() => count(running), { timeout: 120_000 }).toBe(0)
})

it('refuses a busy port in words', async () => {
  const elsewhere = await mkdtemp(join(tmpdir(), 'weir-clickhouse-'))
  const second = startEngine(elsewhere, { CLICKHOUSE_PORT: new URL(engine.url).port })
  await expect(second).rejects.toThrow('in use')
  await rm(elsewhere, { recursive: true, force: true })
})

it('keeps its data and no spooled files through kill -9', async () => {
  await createTable('kept')
  await client.insert({ table: 'kept', values: [{ id: 1, name: 'x' }], format: 'JSONEachRow' })
  await client.close()
  await engine.kill('SIGKILL')
  engine = await startEngine(folder)
  connect()
  expect(await count('kept')).toBe(1)
  expect(await readdir(join(folder, 'spool'))).toEqual([])
})
