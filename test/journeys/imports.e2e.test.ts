import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { within } from '#platform/process/within.js'
import { catalogue } from '#schemas/catalogue.js'
import { viewOf } from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { csvOf, ndjsonOf } from '../support/lined.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { startEdge } from '../support/system/another-service.js'
import { kill, pidOf } from '../support/system/processes.js'
import { readyzOf } from '../support/system/readiness.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

type Line = {
  batch?: number
  status?: number
  accepted?: number
  refused?: { index: number; line: number; problems: { code: string }[] }[]
  summary?: { records: number; accepted: number; refused: number; complete: boolean; message: string }
}

const post = async (
  url: string,
  key: string,
  body: string | Buffer | AsyncIterable<string>,
  headers: Record<string, string>,
): Promise<{ status: number; lines: Line[] }> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: body as unknown as ReadableStream,
    duplex: 'half',
  } as RequestInit)
  const text = await answer.text()
  return {
    status: answer.status,
    lines: text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  }
}
// How far the last import has come: said where one never ends.
let came = ''

/** Sends an import, and leaves it where `mayLeave` says so of the number of batches that were told. */
const importUntil = async (
  url: string,
  key: string,
  body: AsyncIterable<string>,
  headers: Record<string, string>,
  mayLeave: (batches: number) => boolean,
): Promise<{ batches: number; isWhole: boolean }> => {
  const leave = new AbortController()
  let text = ''
  const seen = () => text.split('\n').length - 1
  came = 'it has no head yet'
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body: body as unknown as ReadableStream,
      duplex: 'half',
      signal: leave.signal,
    } as RequestInit)
    came = `status ${answer.status}`
    for await (const piece of answer.body ?? []) {
      text += Buffer.from(piece).toString()
      came = `status ${answer.status}, ${seen()} lines, the last one ${text.trimEnd().split('\n').at(-1)?.slice(0, 200)}`
      if (!mayLeave(seen())) continue
      leave.abort()
      came = 'its client has left'
      // Not read on until it ends: where all of an answer has come and is not read yet, Node 20's fetch neither ends nor fails after an
      // abort. Behind a killed edge all may come at once, as most of it was decided before.
      break
    }
  } catch {
    // The edge was killed, or we have left.
  }
  return { batches: seen(), isWhole: text.includes('"summary"') }
}

const ndjson = { 'content-type': 'application/x-ndjson' }
const csv = { 'content-type': 'text/csv' }

const countOf = async (org: string, view = 'shops') => {
  const [row] = await analyst.query<{ count: string; ids: string }>(
    `select count() as count, uniqExact(shop_id) as ids from weir.${view} where org_id = {org:String}`,
    { org },
  )
  return [Number(row?.count), Number(row?.ids)]
}

itDeep('takes every type as NDJSON and CSV, uploaded and imported, and an analyst sees the same of each', async () => {
  const org = await newOrganisation('formats')
  const known = new Map<string, string>()
  const recordOf = (type: RecordType) => {
    const references = Object.entries(type.fields).flatMap(([name, field]) =>
      field.kind === 'reference'
        ? [[name, known.get(field.to)]]
        : field.kind === 'item'
          ? [[name, known.get(Object.values(field.kinds)[0] ?? '')]]
          : [],
    )
    return sampleOf(type, { ...Object.fromEntries(references), ...(hasVersions(type) && { is_deleted: false }) })
  }
  for (const type of catalogue.all.values()) {
    const record = recordOf(type)
    known.set(type.type, String(record[type.id]))
    const records = Array.from({ length: 5 }, () => ({
      ...record,
      ...(hasVersions(type) && { [type.id]: randomUUID() }),
    }))
    records[0] = record
    const one = (n: number) => records.slice(n, n + 1)
    const at = (path: string) => `${system.edgeUrl}/v1/${path}/${type.type}`
    const answers = [
      await org.uploader.upload(type.type, one(0)),
      await post(at('data'), org.key, ndjsonOf(one(1)), ndjson),
      await post(at('data'), org.key, gzipSync(csvOf(type, one(2))), { ...csv, 'content-encoding': 'gzip' }),
      await post(at('imports'), org.key, csvOf(type, one(3)), csv),
      await post(at('imports'), org.key, gzipSync(ndjsonOf(one(4))), { ...ndjson, 'content-encoding': 'gzip' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    for (const answer of answers.slice(3))
      expect('lines' in answer && answer.lines.at(-1)?.summary).toMatchObject({ accepted: 1, complete: true })
    await eventually(async () => {
      const rows = await analyst.query<Record<string, unknown>>(
        `select * except (accepted_at, version, ${[type.id, ...Object.keys(type.assigned)].join(', ')}) from weir.${viewOf(type.type)} where org_id = {org:String}`,
        { org: org.name },
      )
      expect(rows).toHaveLength(5)
      for (const row of rows) expect(row).toEqual(rows[0])
    })
  }
})

it('keeps a line that is no record among the rejections, with what stood there', async () => {
  const org = await newOrganisation('unreadable')
  const body = `${ndjsonOf([sampleOf(shop)])}{"shop_id": oops\n`
  const { lines } = await post(`${system.edgeUrl}/v1/imports/shops`, org.key, body, ndjson)
  expect(lines[0]?.refused).toMatchObject([{ index: 1, line: 2, problems: [{ code: 'unreadable' }] }])
  await eventually(async () => {
    const rows = await analyst.query(
      'select problems.code as codes, record, truncated from weir.rejections where org_id = {org:String}',
      { org: org.name },
    )
    expect(rows).toEqual([{ codes: ['unreadable'], record: '{"shop_id": oops', truncated: true }])
  })
})

/** Lines of shops, made while they are sent: every thousandth of them is wrong. */
async function* shopLines(count: number, idOf: (n: number) => string, pauseEvery = 0): AsyncGenerator<string> {
  for (let from = 0; from < count; from += 1000) {
    const lines = Array.from({ length: 1000 }, (_, i) =>
      i === 999
        ? '{"shop_id": 1}'
        : JSON.stringify({ shop_id: idOf(from + i), name: `shop ${from + i}`, region: 'GB' }),
    )
    yield `${lines.join('\n')}\n`
    if (pauseEvery > 0 && from % pauseEvery === 0) await sleep(10)
  }
}
const idsOf = (count: number) => {
  const ids = Array.from({ length: count }, () => randomUUID())
  return (n: number) => ids[n] ?? ''
}
const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

// With IMPORT_RECORDS=2000000, to look at a long one.
const many = Number(process.env.IMPORT_RECORDS ?? 200_000)
const warm = 10_000

itDeep(
  `takes ${many} records in one body, in memory that does not grow with it`,
  async () => {
    const org = await newOrganisation('long-import')
    const edge = await startEdge({ LOG_LEVEL: 'warn' })
    const url = `${edge.url}/v1/imports/shops`
    await post(url, org.key, shopLines(warm, idsOf(warm)), ndjson)
    const before = residentMiB(edge.pid)
    let most = before
    const watching = setInterval(() => {
      most = Math.max(most, residentMiB(edge.pid))
    })
    const { lines } = await post(url, org.key, shopLines(many, idsOf(many)), ndjson)
    clearInterval(watching)
    expect(lines.at(-1)?.summary).toMatchObject({
      records: many,
      accepted: many - many / 1000,
      refused: many / 1000,
      complete: true,
    })
    expect(lines.slice(0, -1).map(({ batch }) => batch)).toEqual(lines.slice(0, -1).map((_, n) => n + 1))
    // Of 26 MB of text, or 260, a few MB are held at once; the rest is what V8 has not collected yet.
    expect(most - before).toBeLessThan(150)
    const all = many + warm - (many + warm) / 1000
    await eventually(async () => expect(await countOf(org.name)).toEqual([all, all]), 60_000 + many / 10)
    await edge.stop()
  },
  180_000 + many / 5,
)

// Whatever an import waits for ends within a minute or so.
const answered = <T>(what: string, sent: Promise<T>): Promise<T> =>
  within(150_000, sent).catch((cause) => {
    const waitsFor = process.getActiveResourcesInfo().join(' ')
    throw new Error(`${what}: no answer within 150 s; ${came}; what is open: ${waitsFor}`, { cause })
  })
// Of each thousand, one is refused; the edge decides 500 at a time, and its answer ends with a line about all.
const count = sized(12_000, 60_000)
const refused = count / 1000

it('is decided once however often the edge is killed in its middle, or its client leaves, and it is sent again', async () => {
  const org = await newOrganisation('killed-import')
  const idOf = idsOf(count)
  const headers = { ...ndjson, 'idempotency-key': 'one-import' }
  const url = `${system.edgeUrl}/v1/imports/shops`
  // Each attempt but the last is killed once it has been told more than the one before.
  let killedAt = 0
  for (let kills = 0; kills < sized(1, 2); kills++) {
    let killed: number | undefined
    const sent = importUntil(url, org.key, shopLines(count, idOf, 1_000), headers, (seen) => {
      if (killed === undefined && seen > killedAt + count / 4000) killed = kill('edge')
      return false
    })
    const told = await answered('the import whose edge is killed', sent)
    expect(told.isWhole).toBe(false)
    expect(told.batches).toBeGreaterThan(killedAt)
    killedAt = told.batches
    await eventually(() => expect(pidOf('edge')).not.toBe(killed), 60_000)
    await eventually(async () => expect(await readyzOf(system.edgeUrl)).toMatchObject({ httpStatus: 200 }), 60_000)
  }
  // And one is left by its client.
  const left = importUntil(url, org.key, shopLines(count, idOf, 1_000), headers, (seen) => seen >= count / 750)
  await answered('the import that its client leaves', left)
  const attempt = () => post(url, org.key, shopLines(count, idOf), headers).catch(() => undefined)
  const last = await eventually(async () => {
    const done = await answered('the import that is sent again', attempt())
    expect(done?.lines.at(-1)?.summary).toMatchObject({ complete: true })
    return done
  })
  expect(last?.lines.at(-1)?.summary).toMatchObject({ records: count, accepted: count - refused, refused })
  await eventually(async () => expect(await countOf(org.name)).toEqual([count - refused, count - refused]), 60_000)
  // Each record has one version, and each refused line one rejection.
  const [versions] = await analyst.query<{ count: string }>(
    'select count() as count from weir.shops_history where org_id = {org:String}',
    { org: org.name },
  )
  expect(Number(versions?.count)).toBe(count - refused)
  await eventually(async () => {
    const [rejections] = await analyst.query<{ count: string }>(
      'select count() as count from weir.rejections where org_id = {org:String}',
      { org: org.name },
    )
    expect(Number(rejections?.count)).toBe(refused)
  })
})

it('goes on while integrity is killed and started again', async () => {
  const org = await newOrganisation('patient-import')
  let killed: number | undefined
  const lines = shopLines(count, idsOf(count), 1_000)
  const told = await importUntil(`${system.edgeUrl}/v1/imports/shops`, org.key, lines, ndjson, (seen) => {
    if (killed === undefined && seen >= count / 4000) killed = kill('integrity')
    return false
  })
  expect(killed).toBeDefined()
  expect(told).toMatchObject({ isWhole: true, batches: count / 500 + 1 })
  await eventually(async () => expect(await countOf(org.name)).toEqual([count - refused, count - refused]), 60_000)
})

it('keeps the order of two records with one id', async () => {
  const org = await newOrganisation('import-order')
  const id = randomUUID()
  const records = Array.from({ length: 11_000 }, (_, n) =>
    n % 1000 === 0
      ? { shop_id: id, name: `version ${n}`, region: 'GB' }
      : { shop_id: randomUUID(), name: 'x', region: 'GB' },
  )
  const { lines } = await post(`${system.edgeUrl}/v1/imports/shops`, org.key, ndjsonOf(records), ndjson)
  expect(lines.at(-1)?.summary).toMatchObject({ accepted: 11_000, complete: true })
  await eventually(async () => {
    const rows = await analyst.query(
      'select name from weir.shops where org_id = {org:String} and shop_id = {id:UUID}',
      { org: org.name, id },
    )
    expect(rows).toEqual([{ name: 'version 10000' }])
  })
})
