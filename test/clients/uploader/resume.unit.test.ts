import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { createInFlight, type Weir, WeirError } from '../../../clients/typescript/src/index.js'
import { chooseFiles } from '../../../clients/uploader/records/files.js'
import { createProgress } from '../../../clients/uploader/report/progress.js'
import { createBudget } from '../../../clients/uploader/send/budget.js'
import { type FileUploadDeps, uploadFile } from '../../../clients/uploader/send/upload-file.js'

const folder = mkdtempSync(join(tmpdir(), 'weir resume '))
afterAll(() => rmSync(folder, { recursive: true }))
let file: string
let number = 0
beforeEach(() => {
  const own = join(folder, String(++number))
  mkdirSync(own)
  file = join(own, 'shops.csv')
})

type Sent = { key: string | undefined; names: string[] }

/** A server that refuses shops called bad, keeps what it is sent by key, and may fail before or after it has taken something. */
const createServer = (fails: (request: number) => 'before' | 'after' | WeirError | undefined = () => undefined) => {
  const requests: Sent[] = []
  const taken = new Map<string, string[]>()
  const weir = {
    of: () => ({
      send: async (records: Record<string, unknown>[], { idempotencyKey }: { idempotencyKey?: string }) => {
        const names = records.map(({ name }) => String(name))
        const failure = fails(requests.length)
        requests.push({ key: idempotencyKey, names })
        const away = new WeirError('network', 'no answer', 'try again')
        if (failure instanceof WeirError) throw failure
        if (failure === 'before') throw away
        if (taken.has(idempotencyKey ?? '')) expect(taken.get(idempotencyKey ?? '')).toEqual(names)
        taken.set(idempotencyKey ?? '', names)
        if (failure === 'after') throw away
        const refused = names.flatMap((name, index) =>
          name.startsWith('bad')
            ? [{ index, problems: [{ code: 'bad_format', field: 'name', message: 'name is bad' }] }]
            : [],
        )
        return { requestId: '', accepted: names.length - refused.length, refused, waiting: [] }
      },
    }),
  } as unknown as Weir
  return { weir, requests, names: () => [...taken.values()].flat() }
}

const silent = { write: () => true }
const upload = async (weir: Weir, over: Partial<FileUploadDeps> & { file?: string } = {}) => {
  const { files } = await chooseFiles([over.file ?? file], {}, catalogue)
  const [chosen] = files
  if (!chosen) throw new Error('no file')
  const deps: FileUploadDeps = {
    target: { url: 'http://weir', key: 'k', keyId: 'id' },
    weir,
    wait: undefined,
    mapping: { map: new Map(), constants: new Map(), skipUnknown: false },
    restart: false,
    inFlight: createInFlight({ most: 3 }),
    budget: createBudget(undefined),
    progress: createProgress(silent),
    signal: new AbortController().signal,
    again: (files) => `weir upload ${files.join(' ')}`,
    ...over,
  }
  return uploadFile(chosen, deps)
}

// A chunk holds 2500 records.
const total = 7600
const nameOf = (i: number) => `${i % 1000 === 7 ? 'bad' : 'good'} ${i}`
const uuidOf = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
const csv = `shop_id,name,region\n${Array.from({ length: total }, (_, i) => `${uuidOf(i)},${nameOf(i)},GB\n`).join('')}`
const bad = Array.from({ length: total }, (_, i) => i).filter((i) => nameOf(i).startsWith('bad'))
const refusedIn = (path: string): Record<string, string>[] => parse(readFileSync(path), { columns: true })
const journal = () => `${file}.weir-journal`
const refusedFile = () => `${file}.refused.csv`

const expectWhole = () => {
  const rows = refusedIn(refusedFile())
  expect(rows.map(({ weir_line }) => Number(weir_line)).sort((a, b) => a - b)).toEqual(bad.map((i) => i + 2))
  for (const row of rows) expect(row).toMatchObject({ region: 'GB', weir_code: 'bad_format', weir_field: 'name' })
}

it('sends all of a file once, and keeps its refused rows with their lines', async () => {
  writeFileSync(file, csv)
  const server = createServer()
  const { report, failure } = await upload(server.weir)
  expect(failure).toBeUndefined()
  expect(report).toMatchObject({ records: total, accepted: total - bad.length, refused: bad.length, state: 'finished' })
  expect(report.codes).toEqual({ bad_format: bad.length })
  expect(report.problems).toEqual({ 'bad_format name': bad.length })
  expect(server.names().sort()).toEqual(Array.from({ length: total }, (_, i) => nameOf(i)).sort())
  expectWhole()

  const again = await upload(server.weir)
  expect(again.report).toMatchObject({
    records: total,
    refused: bad.length,
    sent: 0,
    skipped: total,
    state: 'finished',
  })
  expect(server.requests).toHaveLength(4)
  expect(readdirSync(join(file, '..')).sort()).toEqual(['shops.csv', 'shops.csv.refused.csv', 'shops.csv.weir-journal'])
})

it('can be killed after any write: what is in the journal is not sent again, and no refused row is lost or there twice', async () => {
  writeFileSync(file, csv)
  await upload(createServer().weir)
  const [wholeJournal, wholeRefused] = [readFileSync(journal()), readFileSync(refusedFile())]
  const lineEnds = [...wholeJournal.keys()].filter((at) => wholeJournal[at] === 10)
  // In the middle of each line, right before its end, and behind it.
  const cuts = [0, 1, ...lineEnds.flatMap((at) => [at - 9, at + 1])]
  for (const cut of cuts) {
    const kept = wholeJournal.subarray(0, cut)
    const lines = kept.toString().split('\n').slice(0, -1)
    const vouched = lines.slice(1).map((line) => JSON.parse(line) as { refused_bytes?: number; from?: number })
    const least = vouched.findLast(({ refused_bytes }) => refused_bytes !== undefined)?.refused_bytes ?? 0
    for (const length of [least, least + 1, wholeRefused.length]) {
      writeFileSync(journal(), kept)
      writeFileSync(refusedFile(), wholeRefused.subarray(0, Math.min(length, wholeRefused.length)))
      const server = createServer()
      const { report, failure } = await upload(server.weir)
      expect(failure).toBeUndefined()
      expect(report).toMatchObject({ records: total, refused: bad.length, state: 'finished' })
      expect(server.requests).toHaveLength(4 - vouched.filter(({ from }) => from !== undefined).length)
      expectWhole()
      rmSync(`${refusedFile()}.old`, { force: true })
    }
  }
})

it('sends what was not answered again with the same key, also when the journal is lost', async () => {
  writeFileSync(file, csv)
  const failing = createServer((request) => (request === 1 ? 'after' : request === 2 ? 'before' : undefined))
  const first = await upload(failing.weir, { inFlight: createInFlight({ most: 1 }) })
  expect(first.failure).toBeInstanceOf(WeirError)
  expect(first.report).toMatchObject({ state: 'stopped', records: 2500 })
  const server = createServer()
  await upload(server.weir)
  expect(server.requests).toHaveLength(3)
  expect(server.requests.map(({ key }) => key)).toContain(failing.requests[1]?.key)

  rmSync(journal())
  const anew = createServer()
  await upload(anew.weir)
  expect(new Set(anew.requests.map(({ key }) => key))).toEqual(
    new Set([failing.requests[0]?.key, ...server.requests.map(({ key }) => key)]),
  )
  rmSync(journal())
  const restarted = createServer()
  await upload(restarted.weir, { restart: true })
  const before = new Set(anew.requests.map(({ key }) => key))
  expect(restarted.requests.filter(({ key }) => before.has(key))).toEqual([])
})

it('keeps the keys of a journal when the API key is another one, and says so', async () => {
  writeFileSync(file, csv)
  const revoked = new WeirError('key', 'the key is revoked', 'ask for a new one', { status: 401 })
  const first = createServer((request) => (request === 1 ? revoked : undefined))
  expect((await upload(first.weir, { inFlight: createInFlight({ most: 1 }) })).failure).toBe(revoked)
  const server = createServer()
  const said: string[] = []
  const other = { url: 'http://weir', key: 'k2', keyId: 'other' }
  const progress = createProgress({ write: (text) => said.push(text) })
  await upload(server.weir, { target: other, progress })
  expect(server.requests.map(({ key }) => key)).toContain(first.requests[1]?.key)
  expect(said.join('')).toMatch(/the key is another one than before/)
})

it('keeps a refused file that was mended by hand, whatever the next upload is, and never two under one name', async () => {
  writeFileSync(file, csv)
  const said: string[] = []
  const progress = createProgress({ write: (text) => said.push(text) })
  const restart = () => upload(createServer().weir, { restart: true, progress })
  await restart()
  await restart()
  expect(said).toEqual([])
  for (const [mended, kept] of [
    ['mended 7', '.old'],
    ['mended again', '.old-2'],
  ] as const) {
    writeFileSync(refusedFile(), readFileSync(refusedFile(), 'utf8').replace('bad 7', mended))
    await restart()
    expect(readFileSync(`${refusedFile()}${kept}`, 'utf8')).toContain(mended)
    expect(said.pop()).toMatch(`are now in ${refusedFile()}${kept}\n`)
    expectWhole()
  }
  // Without a journal nobody knows whether it was changed.
  rmSync(journal())
  await restart()
  expect(readdirSync(join(file, '..'))).toContain('shops.csv.refused.csv.old-3')
})

describe('what does not fit the journal', () => {
  const failureOf = async (over: Partial<FileUploadDeps>) => String((await upload(createServer().weir, over)).failure)

  it('is told with what to do: another file, server or mapping', async () => {
    writeFileSync(file, csv)
    await upload(createServer().weir)
    expect(await failureOf({ target: { url: 'http://other', key: 'k', keyId: 'id' } })).toMatch(
      /uploaded to http:\/\/weir/,
    )
    const mapping = { map: new Map(), constants: new Map([['region', 'IE']]), skipUnknown: false }
    expect(await failureOf({ mapping })).toMatch(
      /begun with other --map, --const or --skip-unknown, or read in another way/,
    )
    writeFileSync(file, csv.replace('good 1,', 'gone 1,'))
    expect(await failureOf({})).toMatch(/was changed since its upload began.*--restart/)
    expect((await upload(createServer().weir, { restart: true })).report.state).toBe('finished')
  })

  it('is a refused file that somebody edited while the upload is not finished', async () => {
    writeFileSync(file, csv)
    const failing = createServer((request) => (request === 2 ? 'before' : undefined))
    await upload(failing.weir, { inFlight: createInFlight({ most: 1 }) })
    writeFileSync(refusedFile(), readFileSync(refusedFile(), 'utf8').replace('bad 7', 'mended 7'))
    expect(await failureOf({})).toMatch(/was changed while the upload is not finished: move it away \(mv /)
    rmSync(refusedFile())
    expect((await upload(createServer().weir)).report).toMatchObject({ state: 'finished', refused: bad.length })
  })

  it('is another process that uploads the same file', async () => {
    writeFileSync(file, csv)
    let going: ReturnType<typeof upload> | undefined
    const second = new Promise<string>((resolve) => {
      const first = createServer()
      const slow = {
        of: (type: string) => ({
          send: async (...given: unknown[]) => {
            const failure = await upload(createServer().weir).then((done) => String(done.failure))
            resolve(failure)
            return (first.weir.of(type).send as (...given: unknown[]) => unknown)(...given)
          },
        }),
      } as unknown as Weir
      going = upload(slow, { inFlight: createInFlight({ most: 1 }) })
    })
    expect(await second).toMatch(/is being uploaded by another process \(\d+\)/)
    expect((await going)?.report.state).toBe('finished')
  })
})

it('lets the later of two rows with one id win, whatever is under way', async () => {
  const rows = Array.from({ length: 12_000 }, (_, i) => `${uuidOf(i % 4000)},good ${i},GB`)
  writeFileSync(file, `shop_id,name,region\n${rows.join('\n')}`)
  const last = new Map<string, string>()
  const weir = {
    of: () => ({
      send: async (records: Record<string, unknown>[]) => {
        // The sooner it was sent, the later it arrives.
        await new Promise((resolve) => setTimeout(resolve, records[0]?.name === 'good 0' ? 50 : 5))
        for (const { shop_id, name } of records) last.set(String(shop_id), String(name))
        return { requestId: '', accepted: records.length, refused: [], waiting: [] }
      },
    }),
  } as unknown as Weir
  await upload(weir, { inFlight: createInFlight({ most: 8 }) })
  expect([...last.values()]).toEqual(Array.from({ length: 4000 }, (_, i) => `good ${i + 8000}`))
})

it('sends a refused file that was mended, without the remarks', async () => {
  writeFileSync(file, 'shop_id,name,region\n1,bad one,GB\n2,good,GB,more\n')
  await upload(createServer().weir)
  const rows = refusedIn(refusedFile())
  expect(rows).toEqual([
    {
      shop_id: '1',
      name: 'bad one',
      region: 'GB',
      weir_line: '2',
      weir_code: 'bad_format',
      weir_field: 'name',
      weir_message: expect.stringMatching(/^name is bad; it is "bad/),
    },
    expect.objectContaining({
      shop_id: '2',
      weir_line: '3',
      weir_code: 'unreadable',
      weir_message: expect.stringContaining('"more"'),
    }),
  ])
  writeFileSync(refusedFile(), readFileSync(refusedFile(), 'utf8').replace('bad one', 'good one'))
  const server = createServer()
  const { report } = await upload(server.weir, { file: refusedFile() })
  expect(report).toMatchObject({ type: 'shops', accepted: 2, refused: 0, state: 'finished' })
  expect(server.requests[0]?.names).toEqual(['good one', 'good'])
})

it('makes refused cells harmless for Excel, and sends them as they were, however often they are refused', async () => {
  const names = ['bad', '=1+1', '+44', '-1.5', '-x', '@me', "'=1", "'tis", '\tx']
  const cells = names.map((name) => `1,"${name}",bad\n`)
  writeFileSync(file, `shop_id,name,region\n${cells.join('')}`)
  const refuseAll = () => {
    const sent: unknown[] = []
    const send = async (records: Record<string, unknown>[]) => {
      sent.push(...records.map(({ name }) => name))
      const problems = [{ code: 'bad_format', field: 'region', message: '=is bad' }]
      return { requestId: '', accepted: 0, refused: records.map((_, index) => ({ index, problems })), waiting: [] }
    }
    return { weir: { of: () => ({ send }) } as unknown as Weir, sent }
  }
  await upload(refuseAll().weir)
  const kept = readFileSync(refusedFile(), 'utf8')
  expect(kept).not.toMatch(/(^|,)"?([=+@\t]|-x)/m)
  expect(kept).toMatch(/,-1\.5,/)
  const again = refuseAll()
  await upload(again.weir, { file: refusedFile() })
  expect(again.sent).toEqual(names)
  expect(readFileSync(`${refusedFile()}.refused.csv`, 'utf8')).toBe(kept)
})

it.each([
  ['ndjson', '{"shop_id":"1","name":"bad"}\n{"shop_id":"2","name":"good"}\n{oops\n'],
  ['json', '[{"shop_id":"1","name":"bad"},{"shop_id":"2","name":"good"},{oops}]'],
])('keeps the refused records of %s in the same format', async (format, text) => {
  const given = file.replace(/csv$/, format)
  writeFileSync(given, text)
  const { report } = await upload(createServer().weir, { file: given })
  const kept = readFileSync(`${given}.refused.${format}`, 'utf8')
  // In one line of JSON, the number of a record says more than its line.
  const numbered = (record: number) => (format === 'json' ? { weir_record: record } : {})
  const records =
    format === 'json'
      ? JSON.parse(kept)
      : kept
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
  expect(records).toEqual([
    {
      shop_id: '1',
      name: 'bad',
      ...numbered(1),
      weir_line: 1,
      weir_code: 'bad_format',
      weir_field: 'name',
      weir_message: expect.stringMatching(/^name is bad; it is "bad/),
    },
    {
      weir_text: expect.stringContaining('oops'),
      ...numbered(3),
      weir_line: expect.any(Number),
      weir_code: 'unreadable',
      weir_field: '',
      weir_message: expect.any(String),
    },
  ])
  expect(report).toMatchObject({ accepted: 1, refused: 2, codes: { bad_format: 1, unreadable: 1 } })
})

describe('--max-errors', () => {
  const rows = (region: string) =>
    Array.from({ length: 20_000 }, (_, i) => `${uuidOf(i)},${region === 'GB' ? 'bad' : 'good'} ${i},${region}\n`)
  const write = (region: string) => writeFileSync(file, `shop_id,name,region\n${rows(region).join('')}`)

  it('stops after few records where all are refused, and goes on at the same places without it', async () => {
    write('GB')
    const server = createServer()
    const { report } = await upload(server.weir, { budget: createBudget({ count: 100 }) })
    expect(report).toMatchObject({ refused: 200, state: 'stopped' })
    const rest = createServer()
    const again = await upload(rest.weir)
    expect(again.report).toMatchObject({ records: 20_000, skipped: 200, state: 'finished' })
    expect(rest.requests.slice(0, 6).map(({ names }) => names.length)).toEqual([200, 400, 800, 1600, 2500, 2500])
    const keys = server.requests.map(({ key }) => key)
    rmSync(journal())
    const lost = createServer()
    await upload(lost.weir, { budget: createBudget({ count: 100_000 }) })
    expect(lost.requests.slice(0, 2).map(({ key }) => key)).toEqual(keys)
  })

  it('sends nothing of what is wrong by the catalogue alone, once that is too much', async () => {
    write('Great Britain')
    const server = createServer()
    const budget = createBudget({ count: 50 })
    const { report } = await upload(server.weir, { budget })
    expect([report.state, server.requests, budget.isSpent(), budget.foreseen()]).toEqual(['stopped', [], true, 100])
    const few = createServer()
    writeFileSync(file, `shop_id,name,region\n${[...rows('Great Britain').slice(0, 50), ...rows('IE')].join('')}`)
    expect((await upload(few.weir, { budget: createBudget({ count: 50 }), restart: true })).report.state).toBe(
      'finished',
    )
  })
})

it('stops at too many errors', async () => {
  writeFileSync(file, csv)
  const server = createServer()
  const budget = createBudget({ count: 2 })
  const { report } = await upload(server.weir, { budget, inFlight: createInFlight({ most: 1 }) })
  expect(report.state).toBe('stopped')
  expect(budget.isSpent()).toBe(true)
  expect(server.names().length).toBeLessThan(total)
})
