import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { exitCodes } from '../../../clients/uploader/commands/exit-codes.js'
import { addUpload } from '../../../clients/uploader/commands/upload.js'
import { UsageError } from '../../../clients/uploader/read/row.js'
import { createProgress } from '../../../clients/uploader/report/progress.js'
import { summaryOf, tableOf } from '../../../clients/uploader/report/summary.js'
import { createReport } from '../../../clients/uploader/send/tally.js'

const root = mkdtempSync(join(tmpdir(), 'weir wait '))
afterAll(() => rmSync(root, { recursive: true }))
let folder: string
let number = 0
const closing: (() => unknown)[] = []
const said: string[] = []
beforeEach(() => {
  folder = join(root, String(++number))
  mkdirSync(folder)
  said.length = 0
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
})
afterEach(async () => {
  vi.restoreAllMocks()
  process.exitCode = undefined
  for (const close of closing.splice(0)) await close()
})

type Request = { path: string; key: string | undefined; records: Record<string, unknown>[] }
type Answer = { status: number; body: unknown } | undefined

/** A server that answers as it is told; undefined is a connection that ends without an answer. */
const serve = async (answer: (request: Request, before: Request[]) => Promise<Answer> | Answer) => {
  const requests: Request[] = []
  const server = createServer(async (request, reply) => {
    let text = ''
    for await (const part of request) text += part
    const json = JSON.parse(text) as { records?: Record<string, unknown>[] }
    const one = {
      path: request.url ?? '',
      key: request.headers['idempotency-key'] as string | undefined,
      records: json.records ?? [json as Record<string, unknown>],
    }
    requests.push(one)
    const given = await answer(one, requests)
    if (!given) return void request.socket.destroy()
    reply.writeHead(given.status, { 'content-type': 'application/json' }).end(JSON.stringify(given.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** The answer to an upload of which these records wait. */
const waits = ({ records }: Request, ...places: number[]): Answer => ({
  status: places.length > 0 ? 207 : 200,
  body: {
    request_id: 'r',
    type: 't',
    batches: [
      {
        batch: 1,
        status: places.length > 0 ? 207 : 200,
        data: {
          message: `${records.length} records`,
          batch_id: 'b',
          error: null,
          ...(places.length > 0 && {
            waiting: places.map((index) => ({ index, id: 'x', for: [], until: '2026-01-02T00:00:00.000Z' })),
          }),
        },
      },
    ],
  },
})

const run = async (url: string, ...words: string[]) => {
  const out: string[] = []
  const program = new Command('weir').exitOverride()
  const signal = new AbortController().signal
  addUpload(program, { env: { WEIR_URL: url, WEIR_KEY: 'k' }, calledAs: 'weir', out: (text) => out.push(text), signal })
  await program.parseAsync(['node', 'weir', 'upload', ...words])
  const code = process.exitCode
  return { code, text: out.join('\n') }
}

const write = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const shops = 'shop_id,name,region\n1,a,GB\n2,b,GB\n'
const offers = 'offer_id,shop_id,name,type,value,region\n3,1,a,fixed,1,GB\n4,9,b,fixed,1,GB\n'
const interaction = '{"interaction_type":"PAGE_VIEW","item_type":"SHOP","item_id":"1","event_timestamp":1}\n'

it('repeats all options of a run in what is to be pasted, but not --restart', async () => {
  const { url } = await serve((request) => refuses(request))
  const file = write('my shops.csv', 'Shop Id,name,=\n1,a,x\n')
  const options = ['--type', 'shops', '--map', 'Shop Id=shop_id', '--const', 'region=GB', '--map', '==', '--wait', '1h']
  const pasted = `--type shops --map 'Shop Id=shop_id' --const region=GB --map '==' --wait 1h`
  const code = (await run(url, file, ...options, '--restart')).code
  expect([code, said.join('')]).toEqual([exitCodes.key, expect.stringContaining(`upload '${file}' ${pasted}\n`)])
  said.length = 0
  await run(url, file, ...options.slice(0, -2), '--wait', '2h')
  expect(said.join('')).toContain(`upload '${file}' ${pasted.replace('1h', '2h')} --restart`)
})

const refuses = (_: Request): Answer => ({ status: 401, body: { error: 'no' } })

describe('--wait', () => {
  it('sends all files beside each other, and ends well where everything is accepted or waits', async () => {
    write('shops.csv', shops)
    write('offers.csv', offers)
    write('interactions.ndjson', interaction)
    const { url, requests } = await serve(async (request, before) => {
      // No shop is answered before its offers and the interaction have come.
      if (request.path.startsWith('/v1/data/shops')) await vi.waitFor(() => expect(before).toHaveLength(3), 20_000)
      if (request.path.startsWith('/v1/data/shops')) return waits(request)
      return waits(request, request.path.startsWith('/v1/data/offers') ? 1 : 0)
    })
    const { code, text } = await run(url, folder, '--wait', '24h', '--json')
    expect(code).toBe(exitCodes.accepted)
    expect(requests.map(({ path }) => path).sort()).toEqual([
      '/v1/data/interactions?missing_references=wait&wait_for=24h',
      '/v1/data/offers?missing_references=wait&wait_for=24h',
      '/v1/data/shops?missing_references=wait&wait_for=24h',
    ])
    expect(JSON.parse(text)).toMatchObject({
      accepted: 3,
      refused: 0,
      waiting: 2,
      files: [
        { type: 'shops', accepted: 2, waiting: 0, state: 'finished' },
        { type: 'offers', records: 2, accepted: 1, waiting: 1, state: 'finished' },
        { type: 'interactions', accepted: 0, waiting: 1, state: 'finished' },
      ],
    })
    expect(said.join('')).toMatch(
      /2 records waited for what they refer to; what is still missing: curl -s http:.*waiting/,
    )
    expect(readFileSync(join(folder, 'offers.csv.weir-journal'), 'utf8')).toMatch(/"wait":"24h"[\s\S]*"waiting":1/)

    // Run again, it tells the same and sends nothing, with --wait or without.
    for (const words of [['--wait', '24h'], []]) {
      const again = await run(url, folder, ...words, '--json')
      expect([again.code, JSON.parse(again.text).waiting]).toEqual([exitCodes.accepted, 2])
    }
    expect(requests).toHaveLength(3)
  })

  it('sends files of one type one after another: the later record of an id wins', async () => {
    write('shops-1.csv', shops)
    write('shops-2.csv', shops.replace(',a,', ',newer,'))
    write('tags.csv', 'tag_id,name\n5,t\n')
    const order: string[] = []
    const { url } = await serve(async (request, before) => {
      const name = String(request.records[0]?.name)
      // Long enough for another file of the type to overtake it.
      if (name === 'a') await vi.waitFor(() => expect(before.map(({ path }) => path).join()).toContain('tags'), 20_000)
      order.push(name)
      return waits(request)
    })
    expect((await run(url, folder, '--wait', '24h', '--json')).code).toBe(exitCodes.accepted)
    expect(order.filter((name) => name !== 't')).toEqual(['a', 'newer'])
  })

  it('is a part of the Idempotency-Key, and an upload goes on as it was begun', async () => {
    const file = write('offers.csv', offers)
    const denied = { status: 401, body: { message: 'the key is not valid' } }
    const { url, requests } = await serve((request, before) => (before.length <= 2 ? denied : waits(request, 0, 1)))
    expect((await run(url, file)).code).toBe(exitCodes.key)
    expect((await run(url, file, '--wait', '1h')).code).toBe(exitCodes.usage)
    expect(said.join('')).toMatch(/was begun without --wait: go on so, or to send all of it: .* --wait 1h --restart/)
    expect((await run(url, file, '--wait', '1h', '--restart')).code).toBe(exitCodes.key)
    expect((await run(url, file)).code).toBe(exitCodes.usage)
    expect(said.join('')).toMatch(/was begun with --wait 1h: go on so/)
    expect((await run(url, file, '--wait', '1h')).code).toBe(exitCodes.accepted)
    const [plain, waiting, again] = requests.map(({ key }) => key)
    expect(again).toBe(waiting)
    expect(waiting).not.toBe(plain)

    rmSync(`${file}.weir-journal`)
    await run(url, file, '--wait', '2h')
    rmSync(`${file}.weir-journal`)
    await run(url, file)
    rmSync(`${file}.weir-journal`)
    await run(url, file, '--wait', '2h')
    const keys = requests.slice(3).map(({ key }) => key)
    expect(keys[1]).toBe(plain)
    expect([keys[0] === keys[2], new Set(keys).size]).toEqual([true, 2])
  })

  it('is told in a trial, and must be a time', async () => {
    const file = write('offers.csv', offers)
    const { url, requests } = await serve((request) => waits(request, 0))
    const { code, text } = await run(url, file, '--wait', '30m', '--dry-run')
    expect([code, requests[0]?.path]).toEqual([
      exitCodes.accepted,
      '/v1/data/offers?dry_run=true&missing_references=wait&wait_for=30m',
    ])
    expect(text).toMatch(/file +records +accepted +refused +waiting\n.*offers\.csv +2 +1 +0 +1\n/)
    await expect(run(url, file, '--wait', 'long')).rejects.toThrow(UsageError)
  })
})

it('has a column for waiting records only where there are some', () => {
  const report = { ...createReport('a.csv', 'shops'), records: 3, accepted: 3 }
  expect(tableOf([report], summaryOf([report], 1), 'answered')).not.toMatch(/waiting/)
})

it('tells several files in one line, and each when it is over', () => {
  const written: string[] = []
  const progress = createProgress({ write: (text) => written.push(text), isTTY: true, columns: 100 }, () => 1000)
  const begin = (file: string, waiting: number) => {
    const report = { ...createReport(file, 'shops'), waiting }
    return { report, end: progress.begin({ file, size: 100, read: () => 50, report }) }
  }
  vi.useFakeTimers()
  try {
    const first = begin('a.csv', 1200)
    const second = begin('b.csv', 34)
    vi.advanceTimersByTime(200)
    expect(written.splice(0)).toEqual(['\r\u001b[K50%  0 records  1 234 wait  0/s  100 B of 200 B  2 files'])
    second.end()
    expect(written.splice(0)).toEqual(['\r\u001b[K50%  0 records  34 wait  0/s  50 B of 100 B  b.csv', '\n'])
    vi.advanceTimersByTime(200)
    // The one that is over still counts: what is told never becomes less.
    expect(written.splice(0)).toEqual(['\r\u001b[K50%  0 records  1 234 wait  0/s  100 B of 200 B  2 files'])
    first.end()
    written.length = 0
    vi.advanceTimersByTime(60_000)
    expect(written).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})
